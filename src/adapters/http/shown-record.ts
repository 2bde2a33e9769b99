import { createHash } from 'node:crypto';
import { jobStatus, type JobStatus } from '../../domain/job.ts';

/** A record as it is answered, with the tag of what it says. */
export type Shown<Rec> = {
  readonly record: Rec;
  /** Without quotes: of the record's header `ETag`, and the id of its event. */
  readonly tag: string;
  readonly isFinal: boolean;
  readonly json: () => string;
};

/**
 * Made once of each state, however many are told of it. `essence` is what the tag is made of: equal records have equal
 * tags, and what the passing of time alone changes may be left out.
 */
export function shownOnce<State extends object, Rec extends { readonly status: JobStatus }>(
  recordOf: (state: State) => Rec,
  essence: (record: Rec) => object = (record) => record,
): (state: State) => Shown<Rec> {
  const made = new WeakMap<State, Shown<Rec>>();
  const make = (state: State): Shown<Rec> => {
    const record = recordOf(state);
    let json: string | undefined;
    return {
      record,
      tag: createHash('sha256')
        .update(JSON.stringify(essence(record)))
        .digest('base64url')
        .slice(0, 22),
      isFinal: record.status === jobStatus.done || record.status === jobStatus.failed,
      json: () => (json ??= JSON.stringify(record)),
    };
  };
  return (state) => {
    const shown = made.get(state) ?? make(state);
    made.set(state, shown);
    return shown;
  };
}
