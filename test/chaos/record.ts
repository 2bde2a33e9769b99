import type { ModelFile } from '../support/audience-model.ts';
import type { ModelRow } from '../support/warehouse-model.ts';

// A partner's own record of its requests. A request without a response may or may not have taken effect, which the stores show
// at the end. It must not take effect twice or partially.

type Import = {
  readonly kind: 'merge' | 'replace';
  readonly files: readonly (readonly ModelRow[])[];
  /** Whether every row is invalid. */
  readonly isInvalid: boolean;
};
type Load = { readonly kind: 'create' | 'append'; readonly audience: string; readonly files: readonly ModelFile[] };

export type Request = {
  /** Unique per request, which identifies its job in the stores. Empty for a request without files. */
  readonly folder: string;
  readonly what:
    | Import
    | Load
    | { readonly kind: 'delete'; readonly attributes: readonly number[] }
    | { readonly kind: 'clear'; readonly audience: string };
  /** Null without a response: the outcome is unknown. */
  answer: { readonly jobId: number | null } | null;
};

export type PartnerRecord = {
  readonly partnerId: number;
  /** In the order sent; each after the previous one was answered or failed. */
  readonly requests: Request[];
};

export function filesOf({ what }: Request): number {
  return 'files' in what ? what.files.length : 0;
}
