import { Failure } from './failure.ts';

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

/** What an operator sets for a partner. */
export type PartnerSettings = {
  /** The share of bad rows that an audience file may have; with 0 one bad row fails the file. */
  readonly audienceBadRowShare: number;
};

/** A plain number: "1%" is none, and neither is an empty text, which JavaScript would take for 0. */
export function toBadRowShare(text: string): number {
  const share = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new Failure('invalid_request', `"${text}" is no share of rows: use a number from 0 to 1, as in 0.01.`);
}
