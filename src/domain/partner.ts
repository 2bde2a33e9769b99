export type PartnerId = number;

export type Partner = {
  readonly id: PartnerId;
  readonly name: string;
  /** Where the partner's objects stand in the shared bucket; ends with a slash. */
  readonly prefix: string;
};

/** A name that is also a folder: lower-case letters, digits and single hyphens, 2 to 40 characters. */
export const partnerNamePattern = /^(?=.{2,40}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

export function prefixOfPartner(name: string): string {
  return `${name}/`;
}
