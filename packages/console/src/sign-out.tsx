import { useState } from 'preact/hooks';
import { Dialog } from './components/page.tsx';
import { signOut } from './session.ts';

/**
 * Ends the session. If that fails, shows a notice, because the next person at this computer could continue the
 * session.
 */
export function SignOut({ isLink }: { readonly isLink: boolean }) {
  const [state, setState] = useState<'ready' | 'sending' | 'failed'>('ready');
  async function send(): Promise<void> {
    setState('sending');
    setState((await signOut()) ? 'sending' : 'failed');
  }
  return (
    <>
      <button type="button" disabled={state === 'sending'} onClick={() => void send()}>
        {isLink ? 'Close this report' : 'Sign out'}
      </button>
      {state === 'failed' && (
        <Dialog
          title={isLink ? 'The report is still open' : 'You are still signed in'}
          onClose={() => setState('ready')}
        >
          <p>The API did not end the session. Check your connection, and try again.</p>
          <div class="row">
            <button type="button" class="primary" onClick={() => void send()}>
              Try again
            </button>
            <button type="button" onClick={() => setState('ready')}>
              {isLink ? 'Keep it open' : 'Stay signed in'}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
