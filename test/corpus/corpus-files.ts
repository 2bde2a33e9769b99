import { columns } from './columns.ts';
import type { CorpusFile } from './corpus-file.ts';
import { encodings } from './encodings.ts';
import { gzip } from './gzip.ts';
import { headers } from './headers.ts';
import { ids } from './ids.ts';
import { lineEndings } from './line-endings.ts';
import { otherFormats } from './other-formats.ts';
import { quotes } from './quotes.ts';
import { sizes } from './sizes.ts';
import { values } from './values.ts';

/** Known mistakes in files, and some unusual but valid files. */
export const corpusFiles: readonly CorpusFile[] = [
  ...quotes,
  ...columns,
  ...ids,
  ...values,
  ...encodings,
  ...lineEndings,
  ...headers,
  ...otherFormats,
  ...gzip,
  ...sizes,
];

/** Some files for each distinct result: status and codes. The long run uses every file. */
export function sampleCorpus(filesPerResult: number): readonly CorpusFile[] {
  const byResult = Map.groupBy(corpusFiles, ({ expected: { status, codes } }) =>
    JSON.stringify([status, codes.map(({ code }) => code)]),
  );
  const chosen = new Set([...byResult.values()].flatMap((files) => files.slice(0, filesPerResult)));
  return corpusFiles.filter((file) => chosen.has(file));
}
