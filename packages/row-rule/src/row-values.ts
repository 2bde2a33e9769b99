import { countryCodes } from './countries.ts';

/** Decision 11: what stands in the columns of a row, beside the id and the keys. */
const idType = { idfa: 1, aaid: 3 } as const;
export const operation = { add: 0, delete: 1 } as const;

export const idTypeValues: readonly string[] = [String(idType.idfa), String(idType.aaid)];
export const operationValues: readonly string[] = [String(operation.add), String(operation.delete)];

/** Empty means unknown. Both spellings are taken, the upper-case one is kept. */
export const countryValues: readonly string[] = [
  '',
  ...countryCodes,
  ...countryCodes.map((code) => code.toLowerCase()),
];
