import type { ModelFile } from '../support/audience-model.ts';
import type { ModelRow } from '../support/warehouse-model.ts';

// A partner's record of its requests. The stores show at the end whether a request without a response took effect.
// Such a request must not take effect twice or partially.

type Import = {
  readonly kind: 'merge' | 'replace';
  readonly files: readonly (readonly ModelRow[])[];
  /** Whether every row is invalid. */
  readonly isInvalid: boolean;
};
type Load = { readonly kind: 'create' | 'append'; readonly audience: string; readonly files: readonly ModelFile[] };

export type Request = {
  /** Unique per request, so that it identifies the job in the stores. Empty for a request without files. */
  readonly folder: string;
  readonly what:
    | Import
    | Load
    | { readonly kind: 'delete'; readonly attributes: readonly number[] }
    | { readonly kind: 'clear'; readonly audience: string };
  /** Null if there was no response and the outcome is therefore unknown. */
  answer: { readonly jobId: number | null } | null;
};

export type PartnerRecord = {
  readonly partnerId: number;
  /**
   * In the order in which they were sent. Each request was sent after the previous one received a response or failed.
   */
  readonly requests: Request[];
};

export function filesOf({ what }: Request): number {
  return 'files' in what ? what.files.length : 0;
}
