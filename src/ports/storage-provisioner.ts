import type { Secret } from '../domain/secret.ts';

export type StorageGrant = {
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
};

/** `Grant` is null where the operator gives out the credentials. */
export interface StorageProvisioner<Grant = StorageGrant> {
  /** Gives storage credentials that can do nothing outside of the prefix. Repeating it gives the same credentials; not to be run
   * twice at once for the same user. */
  provision(user: { readonly name: string; readonly prefix: string }): Promise<Grant>;
}
