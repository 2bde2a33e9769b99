import type { InletSettings } from '@inlet/sdk';

/** What was issued to a partner, and where the service is: of the settings of the SDK, those that are kept. */
export type Profile = Pick<InletSettings, 'url' | 'apiKey' | 'userToken' | 'storage' | 'allowHttp'>;

/** All logins of a person on this machine. */
export type Profiles = { readonly current: string; readonly profiles: Readonly<Record<string, Profile>> };

export const noProfiles: Profiles = { current: 'default', profiles: {} };

export function isProfileName(name: string): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/.test(name) && !Object.hasOwn(Object.prototype, name);
}
