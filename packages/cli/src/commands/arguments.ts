import { InvalidArgumentError, Option } from 'commander';
import { wrongUse } from '../failures/cli-failure.ts';
import { ask } from '../terminal/prompt.ts';

/** The commands that list the IDs of each kind. */
const lists = {
  import: 'inlet imports',
  audience: 'inlet audience list',
  append: 'inlet audience history <id>',
  attribute: 'inlet attributes',
  key: 'inlet keys',
  customer: 'inlet customers',
  token: 'inlet tokens list <customer-id>',
  webhook: 'inlet webhooks list',
  subscription: 'inlet subscriptions list',
  deletion: 'inlet deletions list',
} as const;

/** Parses an ID without calling the service. Accepts only plain digits, because `1e1` is probably a typo. */
export function toId(kind: keyof typeof lists, text: string): number {
  const id = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw wrongUse(`"${text}" is not a valid ${kind} ID.`, `IDs are whole numbers. Run \`${lists[kind]}\`.`);
}

/** Parses an option that is a whole number in a range. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Must be a whole number from ${least} to ${most}.`);
  };
}

export type KeyTypeOptions = { readonly keyType?: string };

/** The API codes and their names. */
const codes: Readonly<Record<string, 0 | 1>> = { attribute: 0, foreign: 1, 0: 0, 1: 1 };

export function keyTypeOption(): Option {
  return new Option('--key-type <type>', 'type of the keys: attribute IDs or your own foreign keys').choices(
    Object.keys(codes).toSorted((a, b) => b.length - a.length),
  );
}

export async function readKeyType({ keyType }: KeyTypeOptions): Promise<0 | 1> {
  const given =
    keyType ??
    (await ask({
      what: 'The key type',
      question: 'Are the keys attribute IDs or your own foreign keys (attribute or foreign)',
      flag: '--key-type',
    }));
  const code = Object.hasOwn(codes, given) ? codes[given] : undefined;
  if (code === undefined)
    throw wrongUse(`"${given}" is not a key type.`, 'Pass --key-type attribute or --key-type foreign.');
  return code;
}
