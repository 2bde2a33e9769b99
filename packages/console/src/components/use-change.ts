import type { Answered, Problem } from '@inlet/sdk/browser';
import { useRef, useState } from 'preact/hooks';
import { noteExpiry } from '../api.ts';

export type ChangeOptions = { readonly idempotencyKey: string };

export type Change = {
  readonly isSending: boolean;
  readonly problem: Problem | null;
  readonly dismiss: () => void;
  /** Returns null if the change was rejected, or if another one is being sent. */
  readonly send: <T>(call: (options: ChangeOptions) => Promise<Answered<T>>) => Promise<{ readonly value: T } | null>;
};

/**
 * Sends one change at a time. If its response is lost, the next attempt has the same idempotency key, so that the API does
 * not create a second job.
 */
export function useChange(): Change {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const key = useRef<string | null>(null);
  const isBusy = useRef(false);
  return {
    isSending,
    problem,
    dismiss: () => setProblem(null),
    send: async (call) => {
      // The second click of a double-click can arrive before the button is disabled.
      if (isBusy.current) return null;
      isBusy.current = true;
      setSending(true);
      key.current ??= crypto.randomUUID();
      const result = await call({ idempotencyKey: key.current });
      isBusy.current = false;
      setSending(false);
      setProblem(result.ok ? null : result.problem);
      if (result.ok || result.problem.from === 'api') key.current = null;
      if (result.ok) return result;
      noteExpiry(result.problem);
      return null;
    },
  };
}
