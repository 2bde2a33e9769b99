/** What a use case may tell the operator: an event in plain words and the ids it concerns. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, event: string): void;
  warn(fields: Readonly<Record<string, unknown>>, event: string): void;
  error(fields: Readonly<Record<string, unknown>>, event: string): void;
}
