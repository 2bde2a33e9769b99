import type { DocumentedFailures } from '../../src/adapters/http/operation-documentation.ts';
import { type CatalogueEntry, failureCatalogue, isFailureCode } from '../../src/domain/failure-catalogue.ts';
import { type HeaderName, headersNamed } from './headers.ts';
import type { JsonObject } from './json-schemas.ts';

const headersOfStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['www-authenticate'],
  409: ['retry-after'],
  429: ['retry-after', 'ratelimit-policy', 'ratelimit'],
  503: ['retry-after'],
};

export type ProblemCollector = {
  /** Responses by status. What all of many operations can answer stands in `components` and is referred to. */
  readonly responsesOf: (own: DocumentedFailures, common: DocumentedFailures, instance: string) => JsonObject;
  readonly components: () => JsonObject;
};

export function problemCollector(): ProblemCollector {
  const shared = new Map<string, JsonObject>();
  return {
    responsesOf: (own, common, instance) => {
      const byStatus = Map.groupBy(Object.entries({ ...own, ...common }), ([code]) => entryOf(code).status ?? 500);
      const responses = [...byStatus].map(([status, examples]): [string, JsonObject] => {
        if (examples.some(([code]) => Object.hasOwn(own, code))) {
          return [String(status), problemResponse(status, examples, instance)];
        }
        const name = examples.map(([code]) => code).join('_or_');
        shared.set(name, problemResponse(status, examples, '/v2/firstparty/audience'));
        return [String(status), { $ref: `#/components/responses/${name}` }];
      });
      return Object.fromEntries(responses);
    },
    components: () => Object.fromEntries(shared),
  };
}

/** With the codes that an answer of this status can have, and an example of every one. */
function problemResponse(status: number, examples: readonly [string, object][], instance: string): JsonObject {
  const codes = examples.map(([code]) => code);
  return {
    description: codes.map((code) => `\`${code}\`: ${entryOf(code).title}.`).join(' '),
    headers: headersNamed(['x-request-id', ...(headersOfStatus[status] ?? [])]),
    content: {
      'application/problem+json': {
        schema: schemaOf(status, codes),
        examples: Object.fromEntries(
          examples.map(([code, example]) => [code, problemExample(code, status, instance, example)]),
        ),
      },
    },
  };
}

function schemaOf(status: number, codes: readonly string[]): JsonObject {
  return {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { properties: { status: { const: status }, code: { enum: codes } } },
    ],
  };
}

function problemExample(code: string, status: number, instance: string, example: object): JsonObject {
  const { title, cause, remedy } = entryOf(code);
  return {
    summary: title,
    description: `${cause} ${remedy}`,
    value: {
      type: `urn:inlet:error:${code}`,
      title,
      status,
      instance,
      code,
      request_id: '0b8f5c1e-6d2a-4f0e-9a53-3c1d8f1f7b42',
      ...example,
    },
  };
}

function entryOf(code: string): CatalogueEntry {
  if (!isFailureCode(code)) throw new Error(`${code} is not in the catalogue`);
  return failureCatalogue[code];
}
