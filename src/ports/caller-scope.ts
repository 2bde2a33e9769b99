import type { AudienceScope } from '../domain/audience.ts';

/** For whom statements are run; without a customer, for the partner itself. */
export type CallerScope = AudienceScope;

/** Everything that is begun in `run`, however long it goes on, sees and writes what is the caller's and nothing else. */
export type AsCaller = <T>(scope: CallerScope, run: () => T) => T;
