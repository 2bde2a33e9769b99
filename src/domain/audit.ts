/** A call that was refused because of who called; or several of them, where too many came to name each. */
export type DeniedCall = {
  readonly at: Date;
  /** Null for a caller whom nobody knows. */
  readonly partnerId: number | null;
  readonly keyId: number | null;
  readonly operation: string;
  readonly code: string;
  /** Null where it stands for several. */
  readonly requestId: string | null;
  /** From where it came; null where it stands for several. */
  readonly address: string | null;
  readonly calls: number;
};

export type AuditEntry = {
  readonly id: number;
  readonly at: Date;
  readonly event: string;
  readonly actor: string;
  readonly databaseUser: string;
  readonly partnerId: number | null;
  readonly keyId: number | null;
  readonly subjectId: number | null;
  readonly operation: string | null;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly calls: number;
  readonly detail: unknown;
};
