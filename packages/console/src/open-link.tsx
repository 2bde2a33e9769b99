import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Page } from './components/page.tsx';
import { Notice, Skeleton } from './components/state.tsx';
import { type SignedIn, describeUser, homeOf, loadSession, session, signInWithLink, signedIn } from './session.ts';
import { messageOf } from './sign-in.tsx';

type State =
  | { readonly is: 'opening' }
  /** Another user is signed in, and opening the link would end that session. */
  | { readonly is: 'asking'; readonly other: SignedIn }
  | { readonly is: 'failed'; readonly code: string; readonly mayReplace: boolean };

/** The link has not been used, so the same token can be sent again. */
const mayPass: ReadonlySet<string> = new Set(['network_failed', 'unavailable', 'too_many_requests']);

/**
 * Opens a one-time link. The token is in the fragment, which browsers do not send to servers. The page keeps the token
 * in memory, so that the link still works after a lost connection.
 */
export function OpenLink() {
  const { route } = useLocation();
  const [token] = useState(() => location.hash.slice(1));
  const [state, setState] = useState<State>({ is: 'opening' });

  async function open(mayReplace: boolean): Promise<void> {
    setState({ is: 'opening' });
    if (session.value === null) await loadSession();
    if (session.value === null) return setState({ is: 'failed', code: 'network_failed', mayReplace });
    const other = signedIn();
    // Another report can be opened again from the application, but a user would have to sign in again.
    if (other && other.role !== 'link' && !mayReplace) return setState({ is: 'asking', other });
    const code = await signInWithLink(token);
    const current = signedIn();
    if (code !== null) setState({ is: 'failed', code, mayReplace });
    else if (current) route(homeOf(current), true);
  }

  useEffect(() => {
    history.replaceState(null, '', location.pathname);
    void open(false);
  }, []);
  return (
    <main style={{ maxWidth: '560px', paddingTop: '12vh' }}>
      {state.is === 'opening' && <Skeleton lines={6} />}
      {state.is === 'asking' && (
        <Page title="Open this report as a read-only link?" sub="You will be signed out.">
          <p>
            This browser is signed in as <strong>{describeUser(state.other)}</strong>, and it can have only one session
            at a time. The link expires one minute after it was created.
          </p>
          <div class="row">
            <button type="button" class="primary" onClick={() => void open(true)}>
              Open the report
            </button>
            <button type="button" onClick={() => route(homeOf(state.other), true)}>
              Stay signed in
            </button>
          </div>
        </Page>
      )}
      {state.is === 'failed' && (
        <div class="stack">
          <h1>{mayPass.has(state.code) ? 'The report could not be opened' : 'This link cannot be opened'}</h1>
          <Notice kind="bad">{messageOf(state.code)}</Notice>
          {mayPass.has(state.code) && (
            <div>
              <button type="button" class="primary" onClick={() => void open(state.mayReplace)}>
                Try again
              </button>
            </div>
          )}
        </div>
      )}
    </main>
  );
}
