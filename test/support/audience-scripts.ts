import * as fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import type { ModelFile } from './audience-model.ts';
import { device } from './device-id.ts';

// Generates random sequences of audience calls. A job lists its files when it starts, and the result must be
// deterministic, so files change only between rounds, when the partner has no running loads. Within a round, each scope
// runs independently and waits only for responses, never for loads. Concurrent calls must produce the same result in
// any order.

export type Step = { readonly pause: number } & (
  | { readonly do: 'create'; readonly path: string }
  | { readonly do: 'append'; readonly audience: number; readonly paths: readonly string[] }
  | { readonly do: 'clear'; readonly audience: number }
  | { readonly do: 'rename'; readonly audience: number; readonly name: string }
  | { readonly do: 'delete'; readonly audience: number }
  /** An append that is canceled after `after` milliseconds. It is retried at the end of the round. */
  | { readonly do: 'cancel'; readonly audience: number; readonly path: string; readonly after: number }
  /**
   * A concurrent clear and append, then the same append again. The repeated append makes the order of the first two
   * irrelevant.
   */
  | { readonly do: 'clear and append'; readonly audience: number; readonly path: string }
);

/** Uploads or replaces a file. Null removes the file. */
export type Change = { readonly path: string; readonly file: ModelFile | null };

export type Round = {
  readonly changes: readonly Change[];
  /** Keyed by scope, which is the partner itself or one of its customers. */
  readonly steps: readonly (readonly Step[])[];
};

/** The steps of each partner. */
export type Script = readonly (readonly Round[])[];

const devices = Array.from({ length: 12 }, (_, n) => device(n));
/** The known devices in the device warehouse. */
export const knownDevices: ReadonlySet<string> = new Set(devices.filter((_, n) => n % 3 === 0));

const filePaths = ['a/1.csv', 'a/2.tsv', 'a/b/1.csv', 'a/b/2.csv.gz', 'ab.csv', 'late/1.csv'];
const pathsToLoad = [...filePaths, 'a', 'a', 'a/', 'a/', 'a/', 'a/b/', 'a/b/', 'a/b/2', 'late/', 'nothing/'];

const row = fc.tuple(fc.constantFrom(...devices), fc.constantFrom('', 'click', 'view'));
const smallFile: fc.Arbitrary<ModelFile> = fc.record({
  rows: fc.array(row, { minLength: 1, maxLength: 6 }),
  flaw: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.constant('row' as const) },
    fc.constantFrom('bytes' as const, 'empty' as const),
  ),
});
/** Larger than 1 MB, so that the file is loaded alone and not in a batch with small files. */
const largeFile: fc.Arbitrary<ModelFile> = row.map(([id]) => ({
  rows: Array.from({ length: 3_700 }, () => [id, 'x'.repeat(250)] as const),
  flaw: null,
}));
const change = fc.record({
  path: fc.constantFrom(...filePaths),
  file: fc.oneof({ weight: 20, arbitrary: smallFile }, { weight: 3, arbitrary: fc.constant(null) }, largeFile),
});

const pause = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 400 }));
const audience = fc.nat({ max: 2 });
const path = fc.constantFrom(...pathsToLoad);
const create = fc.record({ do: fc.constant('create' as const), pause, path });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: create },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      pause,
      audience,
      paths: fc.array(path, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('clear' as const), pause, audience }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear and append' as const), pause, audience, path }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('cancel' as const),
      pause,
      audience,
      path,
      after: fc.integer({ min: 0, max: 600 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('rename' as const),
      pause,
      audience,
      name: fc.constantFrom('New', 'ü', '0'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), pause, audience }) },
);

const scopesOf = (scopes: number, steps: fc.Arbitrary<Step[]>): fc.Arbitrary<Step[][]> =>
  fc.array(steps, { minLength: scopes, maxLength: scopes });

/** Two rounds, so that the second round adds files after others were loaded, failed, or cleared in the first. */
const roundsOf = (scopes: number): fc.Arbitrary<[Round, Round]> =>
  fc.tuple(
    fc.record({
      changes: fc.uniqueArray(change, { minLength: 3, maxLength: 6, selector: (made) => made.path }),
      steps: scopesOf(
        scopes,
        fc.tuple(create, fc.array(step, { maxLength: 2 })).map(([made, more]) => [made, ...more]),
      ),
    }),
    fc.record({
      changes: fc.array(change, { minLength: 1, maxLength: 3 }),
      steps: scopesOf(scopes, fc.array(step, { maxLength: 2 })),
    }),
  );

/** Generates a script for partners that each have the given number of scopes. */
export function arbitraryScript(scopes: readonly number[]): fc.Arbitrary<Script> {
  return fc.tuple(...scopes.map(roundsOf));
}

/**
 * Returns the content of a file to upload. An invalid `.gz` file is not gzipped. Any other invalid file has no columns.
 */
export function bytesOf(key: string, { rows, flaw }: ModelFile): Uint8Array {
  if (flaw === 'empty') return new Uint8Array();
  const isGzip = key.endsWith('.gz');
  const delimiter = key.endsWith('.tsv') ? '\t' : ',';
  const lines = flaw === 'bytes' && !isGzip ? ['one column'] : rows.map((fields) => fields.join(delimiter));
  const text = Buffer.from([...lines, ...(flaw === 'row' ? ['nonsense,'] : [])].map((line) => `${line}\n`).join(''));
  return isGzip && flaw !== 'bytes' ? gzipSync(text) : text;
}

/** Formats a script for the message of a failed test. */
export function describeScript(script: Script): string {
  return script.map((rounds, partner) => `partner ${partner + 1}:\n${rounds.map(describeRound).join('')}`).join('');
}

function describeRound({ changes, steps }: Round): string {
  return [
    ...changes.map(({ path: key, file }) => (file ? `upload ${key} ${describeFile(file)}` : `remove ${key}`)),
    ...steps.map((own, scope) => `scope ${scope}: ${JSON.stringify(own)}`),
  ]
    .map((line) => `  ${line}\n`)
    .join('');
}

function describeFile({ rows, flaw }: ModelFile): string {
  const shown = rows.slice(0, 6).map(([id, event]) => `${Number.parseInt(id.slice(-12), 16)}${event.slice(0, 1)}`);
  return `${flaw ?? 'good'}, ${rows.length} rows: ${shown.join(' ')}`;
}
