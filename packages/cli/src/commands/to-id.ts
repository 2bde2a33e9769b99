import { wrongUse } from '../failures/cli-failure.ts';

/**
 * What is no number cannot be anything's id: the service is not asked. Only as the service writes it: `1e1` would be
 * another one than whoever typed it meant.
 */
export function toId(thing: 'import' | 'audience', text: string): number {
  const id = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  const list = thing === 'import' ? 'inlet imports' : 'inlet audience list';
  throw wrongUse(`"${text}" is no id of an ${thing}.`, `Ids are whole numbers: see \`${list}\`.`);
}
