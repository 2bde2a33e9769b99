import { operationsOf, responseOf, type DescribedOperation, type OpenApi } from './document.ts';
import { escapePointer } from './document.ts';
import { validatorsOf } from './validators.ts';

type Media = {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>> | undefined;
};

/** Returns the number of checked examples and one line per schema violation. */
export function findBadExamples(document: OpenApi): { readonly checked: number; readonly bad: string[] } {
  const validators = validatorsOf(document);
  const examples = operationsOf(document).flatMap((operation) => examplesOf(document, operation));
  const bad = examples.flatMap(({ place, value }) =>
    validators.errorsOf(place, value).map((error) => `${place}: ${error}`),
  );
  return { checked: examples.length, bad: [...new Set(bad)] };
}

function examplesOf(document: OpenApi, operation: DescribedOperation): { place: string; value: unknown }[] {
  const inContent = (place: string, content: Readonly<Record<string, Media>>) =>
    Object.entries(content).flatMap(([type, { example, examples = {} }]) =>
      [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)].map(
        (value) => ({ place: `${place}/content/${escapePointer(type)}/schema`, value }),
      ),
    );
  const responses = Object.keys(operation.responses).flatMap((status) => {
    const response = responseOf(document, operation, status);
    if (!response) throw new Error(`${operation.operationId} refers to a response that does not exist`);
    const headers = Object.keys(response.headers).map((name) => ({
      place: `/components/headers/${name}/schema`,
      value: document.components.headers[name]?.example,
    }));
    return [...inContent(response.place, response.content), ...headers];
  });
  const parameters = operation.parameters.flatMap(({ example }, index) =>
    example === undefined ? [] : [{ place: `${operation.place}/parameters/${index}/schema`, value: example }],
  );
  return [
    ...parameters,
    ...inContent(`${operation.place}/requestBody`, operation.requestBody?.content ?? {}),
    ...responses,
  ];
}
