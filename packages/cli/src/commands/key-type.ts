import { Option } from 'commander';
import { wrongUse } from '../failures/cli-failure.ts';
import { ask } from '../terminal/prompt.ts';

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
