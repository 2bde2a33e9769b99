import type { Scope } from './caller.ts';
import { Failure } from './failure.ts';

/** What is known of an API key once it was shown: everything but the key. */
export type ApiKey = {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** To about a minute. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
};

/** What an operator says of a key that is to be made. */
export type KeyWish = {
  readonly name: string;
  /** Null: all of them. */
  readonly scopes: readonly Scope[] | null;
  /** Null: it works until it is revoked. */
  readonly livesSeconds: number | null;
};

/** What the key is for, in the words of an operator. */
export function toKeyName(text: string): string {
  const name = text.trim();
  if (/^\P{Cc}{0,100}$/u.test(name)) return name;
  throw new Failure('invalid_request', 'The name of a key has at most 100 characters and no control characters.');
}
