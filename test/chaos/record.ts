import type { ModelFile } from '../support/audience-model.ts';
import type { ModelRow } from '../support/warehouse-model.ts';

// What a partner has asked for, by its own record. A request that was not answered may have been carried out or not: which
// of both, the stores say at the end; but never twice, and never half.

type Import = {
  readonly kind: 'merge' | 'replace';
  readonly files: readonly (readonly ModelRow[])[];
  /** One that no row of is good. */
  readonly isNonsense: boolean;
};
type Load = { readonly kind: 'create' | 'append'; readonly audience: string; readonly files: readonly ModelFile[] };

export type Request = {
  /** Of this request only: by it a job in the stores is known again. Empty for what has no files. */
  readonly folder: string;
  readonly what:
    | Import
    | Load
    | { readonly kind: 'delete'; readonly attributes: readonly number[] }
    | { readonly kind: 'clear'; readonly audience: string };
  /** Null when no answer came, so that nobody knows. */
  answer: { readonly jobId: number | null } | null;
};

export type PartnerRecord = {
  readonly partnerId: number;
  /** In the order in which they were sent: each after the one before was answered or had failed. */
  readonly requests: Request[];
};

export function filesOf({ what }: Request): number {
  return 'files' in what ? what.files.length : 0;
}
