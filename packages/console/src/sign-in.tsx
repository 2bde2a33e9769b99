import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Page } from './components/page.tsx';
import { Notice } from './components/state.tsx';
import { type Session, homeOf, signInWithKey, signedIn } from './session.ts';

const messages: Readonly<Record<string, string>> = {
  unauthenticated: 'This API key is not valid. Check the key, or ask your operator for a new one.',
  invalid_user_token: 'This user token is not valid.',
  console_link_invalid: 'This link has expired or was already used. Open the report again from your application.',
  network_failed: 'The API did not respond. Check your connection and try again.',
  unavailable: 'The API did not respond. Try again in a minute.',
  too_many_requests: 'Too many attempts. Wait a minute and try again.',
  sign_in_not_available: 'Single sign-on is not configured. Ask your operator.',
  sign_in_denied: 'The sign-in was canceled.',
  sign_in_expired: 'The sign-in took too long. Try again.',
  issuer_unavailable: 'The sign-in service is not responding. Try again in a few minutes.',
  role_missing: 'Your account has no access to this console. Ask your operator for a role.',
  partner_unknown: 'Your account belongs to a partner that does not exist here. Ask your operator.',
  customer_unknown:
    'Your account belongs to a customer that does not exist here. Contact the partner that referred you.',
};

export function messageOf(code: string): string {
  return messages[code] ?? 'The sign-in failed. Try again, and contact your operator if this persists.';
}

export function SignIn({ methods }: { readonly methods: Session['sign_in'] }) {
  const { path, query } = useLocation();
  const given = path === '/console/sign-in' ? query['return_to'] : `${path}${location.search}`;
  const returnTo = given ?? '/console/';
  useEffect(() => {
    document.title = 'Sign in · Inlet';
  }, []);
  return (
    <main style={{ maxWidth: '440px', paddingTop: '12vh' }}>
      <div class="stack">
        <h1>Sign in to Inlet</h1>
        {query['error'] !== undefined && <Notice kind="bad">{messageOf(query['error'])}</Notice>}
        {methods.oidc && (
          <a
            class="button primary"
            style={{ textAlign: 'center' }}
            href={`/console/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`}
            target="_top"
            rel="external"
          >
            Continue with single sign-on
          </a>
        )}
        {methods.api_key && <KeyForm />}
        {!methods.oidc && !methods.api_key && (
          <Notice kind="warn">
            Sign-in is not configured. An operator can set it up: see “Console” in the documentation for operators.
            Reports still open through links from your application.
          </Notice>
        )}
      </div>
    </main>
  );
}

export function expiredLinkText(partner: string): string {
  return `This link has expired. Open the report again from the application of ${partner}.`;
}

/** For a reader who opened a one-time link and has no account. */
export function ExpiredLink({ partner }: { readonly partner: string }) {
  const { path } = useLocation();
  return (
    <main style={{ maxWidth: '560px', paddingTop: '12vh' }}>
      <Page title="This link has expired" sub="Reports that you open with a link stay open for a limited time.">
        <p>Open the report again from the application of {partner}.</p>
        <p class="small muted">
          Do you have an account here?{' '}
          <a href={`/console/sign-in?return_to=${encodeURIComponent(path + location.search)}`}>Sign in</a>
        </p>
      </Page>
    </main>
  );
}

/** The reader of a one-time link has ended its session. */
export function ClosedReport({ partner }: { readonly partner: string }) {
  return (
    <main style={{ maxWidth: '560px', paddingTop: '12vh' }}>
      <Page title="The report is closed" sub="This browser can no longer read it.">
        <p>To see it again, open it from the application of {partner}.</p>
      </Page>
    </main>
  );
}

/** For development only: the API accepts keys here if `INLET_CONSOLE_API_KEY_SIGN_IN` is set. */
function KeyForm() {
  const { route } = useLocation();
  const [problem, setProblem] = useState<string | null>(null);
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const fields = new FormData(event.currentTarget);
    const code = await signInWithKey(textOf(fields, 'key'), textOf(fields, 'token'));
    setProblem(code);
    const current = signedIn();
    if (code === null && current) route(homeOf(current), true);
  }
  return (
    <form class="card fields" onSubmit={(event) => void submit(event)}>
      <h2>With an API key (development only)</h2>
      {problem !== null && <Notice kind="bad">{messageOf(problem)}</Notice>}
      <div class="field">
        <label htmlFor="key">API key</label>
        <input id="key" name="key" type="password" autocomplete="off" required />
      </div>
      <div class="field">
        <label htmlFor="token">User token (optional)</label>
        <input id="token" name="token" type="password" autocomplete="off" />
      </div>
      <button type="submit">Sign in</button>
    </form>
  );
}

function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
