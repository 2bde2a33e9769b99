import { Failure } from './failure.ts';

/** A partner's customer. Partners load audiences on behalf of customers. */
export type Customer = { readonly id: number; readonly name: string };

/** A user token without its secret text, which is shown only once. */
export type UserToken = {
  readonly id: number;
  readonly customer: Customer;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** The key or session that created the token, such as `key 17`. Null for an operator. */
  readonly createdBy: string | null;
};

/** Trims and validates a customer name. */
export function toCustomerName(text: string): string {
  const name = text.trim();
  if (isCustomerName(name)) return name;
  throw new Failure('invalid_request', 'A customer name must have 1 to 100 characters and no control characters.');
}

/** The `u` flag counts code points, so an emoji is one character. */
export function isCustomerName(text: string): boolean {
  return /^\P{Cc}{1,100}$/u.test(text) && text.isWellFormed() && text.trim() === text;
}
