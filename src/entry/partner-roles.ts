import { assumeRole, roleKeys } from '../adapters/s3/assume-role.ts';
import { Failure } from '../domain/failure.ts';
import type { BucketKeys, BucketRole } from '../domain/partner-bucket.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import { type Config, partnerNetworksOf } from './config.ts';

/** How roles of partners become keys; not at all without an identity of our own. */
export function partnerRoles(config: Config, partners: PartnerStore) {
  const accessKeyId = config.INLET_ROLE_ACCESS_KEY_ID;
  const secretAccessKey = config.INLET_ROLE_SECRET_ACCESS_KEY;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const refuse = (): never => {
      throw new Failure('roles_not_available', 'There is no identity any more with which a role could be assumed.');
    };
    return { canAssumeRoles: false, keysOfRole: async (): Promise<BucketKeys> => refuse() };
  }
  const endpoint = config.INLET_PARTNER_S3_ENDPOINT ?? null;
  const settings = { accessKeyId, secretAccessKey, endpoint, networks: partnerNetworksOf(config) };
  const keysOf = roleKeys((role) => assumeRole(settings, role));
  return {
    canAssumeRoles: true,
    keysOfRole: async (role: BucketRole, partnerId: PartnerId): Promise<BucketKeys> =>
      keysOf({ ...role, partnerId, externalId: await partners.readExternalId(partnerId) }),
  };
}
