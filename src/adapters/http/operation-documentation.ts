import type { FailureCode } from '../../domain/failure-catalogue.ts';
import type { FieldError } from '../../domain/failure.ts';

/** What the OpenAPI document says of an operation beside its schemas. The acceptance suite sends the examples. */
export type OperationDocumentation = {
  readonly summary: string;
  readonly description: string;
  readonly params?: Readonly<Record<string, DocumentedParameter>>;
  readonly query?: Readonly<Record<string, DocumentedParameter>>;
  /** Of the request, where they mean something to this operation. */
  readonly headers?: Readonly<Record<string, DocumentedParameter>>;
  /** By a name for each. */
  readonly bodies?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  readonly answer: DocumentedAnswer;
  /** Answers of the same shape, or empty ones, with another status than that of success. */
  readonly otherAnswers?: Readonly<Record<number, DocumentedAnswer>>;
  /** Those of this operation; the ones that all have in common are added. Title, cause and remedy: the catalogue. */
  readonly failures: DocumentedFailures;
};

export type DocumentedFailures = Readonly<Partial<Record<FailureCode, FailureExample>>>;

type FailureExample = { readonly detail: string; readonly errors?: readonly FieldError[] };

/** One without an example is left out of the example of the request. */
type DocumentedParameter = { readonly description: string; readonly example?: string | number };

type DocumentedAnswer = {
  readonly description: string;
  /** Absent where the answer has no body. */
  readonly example?: unknown;
  /** The same as CSV, for `Accept: text/csv`. */
  readonly csv?: string;
  /** Server-sent events. */
  readonly events?: string;
  /** It has no body, although the operation's answer has one. */
  readonly isEmpty?: true;
  /** Has the headers of a record that can be asked for on condition. */
  readonly isTagged?: true;
  /** The header of that name. */
  readonly location?: string;
  /** Has a header `Link` to the next page. */
  readonly isPaged?: true;
};
