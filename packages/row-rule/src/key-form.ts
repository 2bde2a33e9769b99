/**
 * What a key of a file can look like at all; whether it is a key of the partner only its attributes tell. A foreign key
 * must be able to stand in a file: no separator, no control character.
 */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const foreignKey = /^[^|\u0000-\u001f\u007f]{1,200}$/u;

/** As an id is written: compared to the letter, `01` is not 1. */
const attributeId = /^[1-9][0-9]{0,15}$/;

export function canBeForeignKey(key: string): boolean {
  return foreignKey.test(key);
}

export function canBeAttributeId(key: string): boolean {
  return attributeId.test(key);
}
