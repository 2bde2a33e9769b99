import type { HttpAnswer } from './attempt.ts';
import { codeOf } from './read-answer.ts';

const passing = new Set([429, 502, 503, 504]);

/** Too many requests, something is away, or the same write is still being carried out. */
export function isRetryable(answer: HttpAnswer): boolean {
  return passing.has(answer.status) || (answer.status === 409 && codeOf(answer) === 'idempotency_key_in_use');
}
