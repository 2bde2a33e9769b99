import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';

/** A gzipped file of an import: so many devices, each with the attribute `sport`. Made in pieces, so that the test itself stays small. */
export function packedImportRows(count: number): Promise<Buffer> {
  return buffer(Readable.from(pieces(count)).pipe(createGzip({ level: 1 })));
}

function* pieces(count: number): Generator<string> {
  for (let from = 0; from < count; from += 10_000) {
    let text = '';
    for (let n = from; n < from + 10_000; n++)
      text += `6d92078a-8246-4ba4-ae5b-${n.toString(16).padStart(12, '0')},sport\n`;
    yield text;
  }
}
