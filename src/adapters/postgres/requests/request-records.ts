import type { AcceptedRequests } from '../../../ports/accepted-requests.ts';
import type { Tx } from '../connect.ts';

export type RequestName = { readonly partnerId: number; readonly keyHash: Buffer };
export type KeptRequest = { readonly fingerprint: Uint8Array; readonly result: unknown };

/** What the stores need to carry a request out once: in their own transactions, so that it is kept with what it did. */
export type RequestRecords = AcceptedRequests & {
  readonly take: (tx: Tx, name: RequestName) => Promise<boolean>;
  readonly find: (tx: Tx, name: RequestName) => Promise<KeptRequest | null>;
  readonly keep: (tx: Tx, name: RequestName, request: KeptRequest) => Promise<void>;
};
