import { z } from 'zod';
import type { DescribedOperation } from './document.ts';

export type ExampleRequest = {
  readonly name: string;
  readonly method: string;
  /** The path with the example values of its parameters. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Returns all examples of an operation: one per request body, or one per response media type. */
export function exampleRequests(operation: DescribedOperation): ExampleRequest[] {
  const { method } = operation;
  const url = exampleUrl(operation);
  const bodies = Object.entries(operation.requestBody?.content['application/json']?.examples ?? {});
  if (bodies.length > 0) {
    return bodies.map(([name, { value }]) => ({
      name,
      method,
      url,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(value),
    }));
  }
  const headers = exampleHeaders(operation);
  const types = typesOf(operation);
  if (types.length === 0) return [{ name: 'no content', method, url, headers: {} }];
  return types.map((accept) => ({ name: accept, method, url, headers: { ...headers, accept } }));
}

function exampleUrl({ path, parameters }: DescribedOperation): string {
  const examples = parameters.filter(({ example }) => example !== undefined);
  const filled = examples
    .filter((parameter) => parameter.in === 'path')
    .reduce((address, { name, example }) => address.replace(`{${name}}`, String(example)), path);
  const query = examples
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example }) => `${name}=${String(example)}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

function exampleHeaders({ parameters }: DescribedOperation): Record<string, string> {
  const examples = parameters.filter((parameter) => parameter.in === 'header' && parameter.example !== undefined);
  return Object.fromEntries(examples.map(({ name, example }) => [name, String(example)]));
}

function typesOf({ responses }: DescribedOperation): string[] {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  return Object.keys(z.object({ content: z.looseObject({}).default({}) }).parse(success).content);
}
