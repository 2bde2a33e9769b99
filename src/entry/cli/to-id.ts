import { Failure } from '../../domain/failure.ts';

/** What is no number cannot be anything's id: `1e1` is none, though JavaScript reads 10. */
export function toId(thing: string, text: string): number {
  const id = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new Failure('not_found', `"${text}" is no ${thing} id.`);
  return id;
}
