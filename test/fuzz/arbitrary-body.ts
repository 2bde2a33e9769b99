import * as fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { DescribedOperation, OpenApi } from '../support/openapi/document.ts';
import { anyJson, arbitraryOf } from './arbitrary-json.ts';

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value) ?? '');

/** Generates documented bodies, slightly invalid bodies, and bodies in unexpected encodings. */
export function arbitraryBody(document: OpenApi, operation: DescribedOperation): fc.Arbitrary<Uint8Array | null> {
  const content = operation.requestBody?.content['application/json'];
  if (!content) return fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, anyJson.map(bytes));
  const examples = Object.values(content.examples ?? {}).map(({ value }) => z.looseObject({}).parse(value));
  const example = fc.constantFrom(...examples);
  const near = fc.tuple(
    example,
    fc.dictionary(
      fc.constantFrom(
        'file_path',
        'key_type',
        'keys',
        'name',
        'mode',
        'path_type',
        'credentials',
        'compressed',
        'surprise',
        '__proto__',
        'constructor',
      ),
      anyJson,
      { maxKeys: 2 },
    ),
  );
  const good = fc.oneof(
    { weight: 2, arbitrary: example },
    { weight: 4, arbitrary: near.map(([value, changes]) => ({ ...value, ...changes })) },
    { weight: 3, arbitrary: arbitraryOf(document, content.schema) },
    anyJson,
  );
  return fc.oneof(
    { weight: 12, arbitrary: good.map(bytes) },
    // Truncates or repeats the body, or changes one byte.
    fc.tuple(good.map(bytes), fc.nat()).map(([whole, at]) => whole.subarray(0, at % (whole.length + 1))),
    good.map((value) => Buffer.concat([bytes(value), bytes(value)])),
    fc.tuple(good.map(bytes), fc.nat(), fc.nat({ max: 255 })).map(([whole, at, byte]) => {
      const changed = Uint8Array.from(whole);
      if (changed.length > 0) changed[at % changed.length] = byte;
      return changed;
    }),
    good.map((value) => Buffer.from(`\ufeff${JSON.stringify(value)}`)),
    good.map((value) => Buffer.from(JSON.stringify(value) ?? '', 'utf16le')),
    good.map((value) => gzipSync(bytes(value))),
    fc.uint8Array({ maxLength: 40 }),
    fc.constant(null),
    fc.constant(new Uint8Array()),
    fc.constantFrom(10, 5_000).map((depth) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`)),
    fc
      .constantFrom('{"key_type":1,"key_type":0}', '{"key_type":1e400}', 'NaN', '\0', '{"file_path":"\\ud800"}')
      .map((body) => Buffer.from(body)),
  );
}
