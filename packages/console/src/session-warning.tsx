import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './components/page.tsx';
import { formatClock } from './format.ts';
import { hasExpired } from './expiry.ts';
import { isIdle } from './idle.ts';
import { msUntilWarning } from './session-ending.ts';
import { checkSession, sessionEnd, staySignedIn } from './session.ts';
import { SignOut } from './sign-out.tsx';

/** Asks an idle user before the session ends, and postpones the end for one who is active. */
export function SessionWarning({ isLink }: { readonly isLink: boolean }) {
  const end = sessionEnd.value;
  const [isAsking, setAsking] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    setAsking(false);
    if (!end) return undefined;
    const ask = async (): Promise<void> => {
      // Another tab, or a request from this one, may have postponed the end.
      await checkSession();
      if (sessionEnd.peek() !== end) return;
      if (isIdle() || end.isFinal || !(await staySignedIn())) setAsking(true);
    };
    const warning = setTimeout(() => void ask(), msUntilWarning(end, Date.now()));
    const over = setTimeout(() => void checkSession(), Math.max(0, end.at - Date.now()) + 1_000);
    return () => {
      clearTimeout(warning);
      clearTimeout(over);
    };
  }, [end]);
  if (!isAsking || !end || hasExpired.value) return null;
  const time = formatClock(end.at);
  const close = (): void => setAsking(false);
  if (end.isFinal) {
    return (
      <Dialog title={`Your session ends at ${time}`} onClose={close}>
        <p>Sessions have a maximum length. {isLink ? 'Open the report' : 'Sign in'} again afterward.</p>
        <div class="row">
          <button type="button" class="primary" onClick={close}>
            Continue until then
          </button>
        </div>
      </Dialog>
    );
  }
  async function stay(): Promise<void> {
    const isDone = await staySignedIn();
    setFailed(!isDone);
    if (isDone) close();
  }
  return (
    <Dialog title="Are you still there?" onClose={close}>
      <p>
        {isLink ? 'This report closes' : 'You will be signed out'} at {time}, because you have been inactive.
      </p>
      {hasFailed && <p role="alert">The API did not respond. Check your connection, and try again.</p>}
      <div class="row">
        <button type="button" class="primary" onClick={() => void stay()}>
          {isLink ? 'Keep it open' : 'Stay signed in'}
        </button>
        <SignOut isLink={isLink} />
      </div>
    </Dialog>
  );
}
