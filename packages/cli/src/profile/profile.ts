import type { StorageSettings } from '@inlet/sdk';

/** What was issued to a partner, and where the service is. */
export type Profile = {
  readonly url: string;
  readonly apiKey: string;
  /** Of one customer: audiences are then seen and made for it. */
  readonly userToken?: string | undefined;
  readonly storage?: StorageSettings | undefined;
  readonly allowHttp?: boolean | undefined;
};

/** All logins of a person on this machine. */
export type Profiles = { readonly current: string; readonly profiles: Readonly<Record<string, Profile>> };

export const noProfiles: Profiles = { current: 'default', profiles: {} };

export function isProfileName(name: string): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(name) && !Object.hasOwn(Object.prototype, name);
}
