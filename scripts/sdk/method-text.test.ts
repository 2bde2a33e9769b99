import { describe, expect, it } from 'vitest';
import { describeMethods } from './described-operations.ts';
import { methodText } from './method-text.ts';

const record = {
  description: 'A thing.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
};
const parameter = (name: string, place: string, type: string): object => ({ name, in: place, schema: { type } });
const operation = (operationId: string, more: object): object => ({
  operationId,
  summary: operationId,
  security: [{ apiKey: [] }],
  responses: { 200: record },
  ...more,
});
const openApi = JSON.stringify({
  paths: {
    '/things/{id}': {
      get: operation('getThing', {
        parameters: [parameter('id', 'path', 'integer'), parameter('prefer', 'header', 'string')],
      }),
      put: operation('setThing', {
        parameters: [parameter('id', 'path', 'integer'), { ...parameter('why', 'query', 'string'), required: true }],
        security: [{ apiKey: [] }, { apiKey: [], userToken: [] }],
        requestBody: { required: true, content: record.content },
        responses: { 204: {}, 401: { $ref: '#/components/responses/unauthenticated' } },
        deprecated: true,
      }),
    },
    '/things/{id}/events': {
      get: operation('followThing', {
        parameters: [parameter('id', 'path', 'integer')],
        responses: { 200: { content: { 'text/event-stream': { schema: { type: 'string' } } } } },
      }),
    },
    '/changes': {
      get: operation('followChanges', {
        responses: { 200: { content: { 'text/event-stream': { schema: {}, 'x-event-data': { type: 'string' } } } } },
      }),
    },
    '/health': { get: operation('getHealth', { security: [], responses: { 200: record, 503: record } }) },
  },
  components: { schemas: {} },
});

const lines = new Map(
  describeMethods(openApi).map((described) => [
    described.name,
    methodText(described)
      .split('\n')
      .map((line) => line.trim()),
  ]),
);

describe('methodText', () => {
  it('generates parameters for the path but not for headers, which the SDK handles itself', () => {
    expect(lines.get('getThing')).toEqual([
      '/** getThing: `GET /things/{id}`. */',
      'getThing(id: number, options?: CallOptions): Promise<Answered<Thing>> {',
      "return this.#api.call({ method: 'GET', path: `/things/${encodeURIComponent(id)}`, auth: 'key', options });",
      '}',
    ]);
  });

  it('puts the body after the path parameters and the query in the options, and marks deprecated operations', () => {
    expect(lines.get('setThing')?.slice(0, 5)).toEqual([
      '/**',
      '* setThing: `PUT /things/{id}`.',
      '* @deprecated This path will be removed. Use the same operation under /v2.',
      '*/',
      'setThing(id: number, body: Thing, options: WriteOptions & { readonly query: { readonly why: string } }): Promise<Answered<void>> {',
    ]);
    expect(lines.get('setThing')?.[5]).toContain("query: options.query, body, auth: 'key and user token', options");
  });

  it('returns the events of a stream with their record type', () => {
    expect(lines.get('followThing')?.slice(1, 3)).toEqual([
      'followThing(id: number, options?: CallOptions): AsyncGenerator<Result<ServerEvent<Thing>>, void, undefined> {',
      "return this.#api.follow({ method: 'GET', path: `/things/${encodeURIComponent(id)}/events`, auth: 'key', options });",
    ]);
  });

  it('uses the documented type of event data', () => {
    expect(lines.get('followChanges')?.[1]).toContain('AsyncGenerator<Result<ServerEvent<string>>, void, undefined>');
  });

  it('lists the statuses other than 2xx whose response is returned as a value', () => {
    expect(lines.get('getHealth')?.[2]).toContain("auth: 'none', acceptedStatuses: [503]");
  });
});
