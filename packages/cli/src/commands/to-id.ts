import { wrongUse } from '../failures/cli-failure.ts';

/** What is no number cannot be anything's id: the service is not asked. */
export function toId(thing: 'import' | 'audience', text: string): number {
  const id = Number(text);
  if (Number.isSafeInteger(id) && id > 0) return id;
  const list = thing === 'import' ? 'inlet imports' : 'inlet audience list';
  throw wrongUse(`"${text}" is no id of an ${thing}.`, `Ids are whole numbers: see \`${list}\`.`);
}
