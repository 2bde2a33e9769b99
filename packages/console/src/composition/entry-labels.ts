import type { Composition, CompositionEntry } from '@inlet/sdk/browser';
import { once } from '../once.ts';

const idTypes: Readonly<Record<string, string>> = { '1': 'IDFA', '3': 'AAID' };

const regions = once(() => new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' }));

export function countryName(code: string): string {
  return regions().of(code) ?? code;
}

/** Names the value of a split. The API returns an empty value if the country or the event is unknown. */
export function valueLabel(split: Composition['split'], value: string): string {
  if (split === 'id_type') return idTypes[value] ?? value;
  if (split === 'country') return /^[A-Z]{2}$/.test(value) ? countryName(value) : 'Unknown country';
  return value === '' ? 'No event' : value;
}

/**
 * Names an entry on its own. The provider is included only if several partners provide attributes with the same name.
 */
export function entryLabel(
  { name, provider, value, attribute_id }: CompositionEntry,
  split: Composition['split'],
  entries: readonly CompositionEntry[],
): string {
  const isAmbiguous = entries.some((other) => other.name === name && other.attribute_id !== attribute_id);
  const full = isAmbiguous ? `${isolate(name)} by ${isolate(provider)}` : isolate(name);
  return value === undefined ? full : `${full} in “${isolate(valueLabel(split, value))}”`;
}

/** Keeps the direction of a name from changing the text around it. */
export function isolate(name: string): string {
  return `\u2068${name}\u2069`;
}

const countryCodes =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW';

export type Country = { readonly code: string; readonly name: string };

/** All countries with their names in the reader's language, sorted by name. */
export const countries: () => readonly Country[] = once(() => {
  const { compare } = new Intl.Collator();
  return countryCodes
    .split(' ')
    .map((code) => ({ code, name: countryName(code) }))
    .toSorted((one, other) => compare(one.name, other.name));
});
