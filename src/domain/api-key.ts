import type { Scope } from './caller.ts';
import { Failure } from './failure.ts';

/** An API key without its secret text, which is shown only once. */
export type ApiKey = {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** Accurate to about a minute. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** The key or session that created the key, such as `key 17`. Null for an operator. */
  readonly createdBy: string | null;
};

/** Options for a new API key. */
export type NewApiKey = {
  readonly name: string;
  /** Null for all scopes. */
  readonly scopes: readonly Scope[] | null;
  /** Null if the key never expires. */
  readonly livesSeconds: number | null;
};

/** Trims and validates the name of a key. */
export function toKeyName(text: string): string {
  const name = text.trim();
  if (/^\P{Cc}{0,100}$/u.test(name)) return name;
  throw new Failure('invalid_request', 'A key name must have at most 100 characters and no control characters.');
}
