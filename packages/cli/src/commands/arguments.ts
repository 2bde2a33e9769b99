import { InvalidArgumentError, Option } from 'commander';
import { wrongUse } from '../failures/cli-failure.ts';
import { ask } from '../terminal/prompt.ts';

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

/** For an option that is a whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^(?:0|[1-9]\d{0,6})$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

export type KeyTypeOptions = { readonly keyType?: string };

/** The codes of the api, and the same in words. */
const codes: Readonly<Record<string, 0 | 1>> = { attribute: 0, foreign: 1, 0: 0, 1: 1 };

export function keyTypeOption(): Option {
  return new Option('--key-type <type>', 'what the keys are: attribute ids, or your own (foreign) keys').choices(
    Object.keys(codes).toSorted((a, b) => b.length - a.length),
  );
}

export async function readKeyType({ keyType }: KeyTypeOptions): Promise<0 | 1> {
  const given =
    keyType ??
    (await ask({
      what: 'The type of the keys',
      question: 'What are the keys, attribute ids or your own (attribute or foreign)',
      flag: '--key-type',
    }));
  const code = Object.hasOwn(codes, given) ? codes[given] : undefined;
  if (code === undefined) throw wrongUse(`"${given}" is neither attribute nor foreign.`, 'Give --key-type.');
  return code;
}
