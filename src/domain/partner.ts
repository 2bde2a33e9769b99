import type { PartnerId } from './ids.ts';
import { Failure } from './failure.ts';

export type Partner = {
  readonly id: PartnerId;
  readonly name: string;
  /** The partner's key prefix in the shared bucket; ends with a slash. */
  readonly prefix: string;
};

/**
 * The name is also the partner's key prefix. It has 2 to 40 characters: lowercase letters, digits, and single hyphens.
 */
export const partnerNamePattern = /^(?=.{2,40}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

export function prefixOfPartner(name: string): string {
  return `${name}/`;
}

/** Settings that an operator manages per partner. */
export type PartnerSettings = {
  /** Maximum share of rejected rows in an audience file. With 0, one rejected row makes the file fail. */
  readonly audienceBadRowShare: number;
  /** Whether IDs without hyphens are accepted. Otherwise, they are rejected as hashes. */
  readonly unhyphenatedIds: boolean;
  /** An attribute of a device is removed if no import has published it for this many days. Null keeps it. */
  readonly deviceDays: number | null;
};

/** Accepts only plain numbers. Rejects "1%" and an empty string, which JavaScript would convert to 0. */
export function toBadRowShare(text: string): number {
  const share = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new Failure('invalid_request', `"${text}" is not a valid share. Use a number from 0 to 1, for example 0.01.`);
}
