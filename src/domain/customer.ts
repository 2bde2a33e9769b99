import { Failure } from './failure.ts';

/** On whose behalf a partner loads audiences. */
export type Customer = { readonly id: number; readonly name: string };

/** What is known of a user token once it was shown: everything but the token. */
export type UserToken = {
  readonly id: number;
  readonly customer: Customer;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

/** The name of a customer as it is kept: what was written, without the space around it. */
export function toCustomerName(text: string): string {
  const name = text.trim();
  if (isCustomerName(name)) return name;
  throw new Failure('invalid_request', 'The name of a customer has 1 to 100 characters and no control characters.');
}

/** Names are shown in lists and in a console. `u` counts characters, so that a name of emoji is not cut short. */
export function isCustomerName(text: string): boolean {
  return /^\P{Cc}{1,100}$/u.test(text) && text.isWellFormed() && text.trim() === text;
}
