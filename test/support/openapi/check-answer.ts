import { escapePointer, responseOf, type DescribedOperation, type OpenApi } from './document.ts';
import { validatorsOf } from './validators.ts';

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

export async function readAnswer(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Returns the differences between a response and the document, such as undocumented or missing fields. */
export function answerChecker(document: OpenApi): (operation: DescribedOperation, answer: Answer) => string[] {
  const { errorsOf } = validatorsOf(document);
  return (operation, { status, headers, text }) => {
    const response = responseOf(document, operation, String(status));
    if (!response) return [`the status ${status} is not documented: ${text}`];
    const missing = Object.keys(response.headers)
      .filter((name) => document.components.headers[name]?.required === true && !headers.has(name))
      .map((name) => `the header ${name} is missing`);
    return [...missing, ...bodyErrors(response, headers.get('content-type'), text)];
  };

  function bodyErrors(
    { content, place }: NonNullable<ReturnType<typeof responseOf>>,
    header: string | null,
    text: string,
  ): string[] {
    if (Object.keys(content).length === 0) return text === '' ? [] : [`there is a body: ${text}`];
    const type = header?.split(';')[0] ?? '';
    if (!content[type]) return [`the content type ${header} is not documented`];
    const value: unknown = type.endsWith('json') ? JSON.parse(text) : text;
    return errorsOf(`${place}/content/${escapePointer(type)}/schema`, value);
  }
}
