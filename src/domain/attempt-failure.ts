import type { FailureCode } from './failure-catalog.ts';

/** The servers that an attempt needs. `aws_credentials` is the AWS service from which Inlet obtains credentials. */
export const dependencies = ['postgresql', 'clickhouse', 'storage', 'partner_storage', 'aws_credentials'] as const;
export type Dependency = (typeof dependencies)[number];

/** Why an attempt that will be repeated has failed. Contains nothing that a partner or a server has sent. */
export type AttemptFailure = {
  readonly code: FailureCode;
  /** Null if the failure has nothing to do with a server, or if the server is not known. */
  readonly dependency: Dependency | null;
};

/** The failures that only one dependency can cause. */
const dependencyByCode: Partial<Readonly<Record<FailureCode, Dependency>>> = {
  topology_mismatch: 'clickhouse',
  merges_behind: 'clickhouse',
  replicas_behind: 'clickhouse',
  bucket_mismatch: 'storage',
  storage_address_refused: 'partner_storage',
};

export function attemptFailure(code: FailureCode, dependency: Dependency | null): AttemptFailure {
  return { code, dependency: dependencyByCode[code] ?? dependency };
}
