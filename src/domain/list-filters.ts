import type { JobStatus } from './job.ts';

// What a list is restricted to. An absent field does not restrict the list.

/** `from` is included and `to` is not. */
type CreatedRange = { readonly createdFrom?: Date | undefined; readonly createdTo?: Date | undefined };

export type ImportLogFilter = CreatedRange & {
  readonly statuses?: readonly JobStatus[] | undefined;
  readonly logType?: 0 | 1 | undefined;
  readonly pathPrefix?: string | undefined;
};

export type AudienceFilter = CreatedRange & {
  readonly statuses?: readonly JobStatus[] | undefined;
  /** A part of the name, in upper or lower case. */
  readonly name?: string | undefined;
};

export type FileFilter = { readonly statuses?: readonly JobStatus[] | undefined };

export type ErasureFilter = CreatedRange & { readonly statuses?: readonly JobStatus[] | undefined };

export type ErrorFilter = {
  readonly code?: string | undefined;
  /** The whole path, as shown in the list. */
  readonly file?: string | undefined;
};

/**
 * Returns the lowest string that is greater than every string with this prefix, in code point order. Null if there is
 * none. An index finds the strings between the two, but cannot search for a prefix under row-level security.
 */
export function endOfPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // The code points of surrogates cannot be stored.
  const next = last + 1 === firstSurrogate ? firstAfterSurrogates : last + 1;
  return String.fromCodePoint(...points, next);
}

const [firstSurrogate, firstAfterSurrogates, lastCodePoint] = [0xd800, 0xe000, 0x10_ffff] as const;
