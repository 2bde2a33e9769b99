import { Failure } from '../../domain/failure.ts';

/** What is no number cannot be anything's id. */
export function toId(thing: string, text: string): number {
  const id = Number(text);
  if (!Number.isSafeInteger(id) || id <= 0) throw new Failure('not_found', `"${text}" is no ${thing} id.`);
  return id;
}
