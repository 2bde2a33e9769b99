import type { S3Client } from '@aws-sdk/client-s3';

/** What the AWS SDK reports as the source of credentials, in the order in which a source is recognized. */
const sources: readonly (readonly [feature: string, name: string])[] = [
  ['CREDENTIALS_ENV_VARS_STS_WEB_ID_TOKEN', 'a web identity token (IRSA)'],
  ['CREDENTIALS_PROFILE_STS_WEB_ID_TOKEN', 'a web identity token of an AWS profile'],
  ['CREDENTIALS_PROFILE_SOURCE_PROFILE', 'a role of an AWS profile'],
  ['CREDENTIALS_PROFILE_NAMED_PROVIDER', 'a role of an AWS profile'],
  ['CREDENTIALS_PROFILE_SSO', 'single sign-on of an AWS profile'],
  ['CREDENTIALS_PROFILE_SSO_LEGACY', 'single sign-on of an AWS profile'],
  ['CREDENTIALS_PROFILE_PROCESS', 'a credential process of an AWS profile'],
  ['CREDENTIALS_PROFILE_LOGIN', 'the login of an AWS profile'],
  ['CREDENTIALS_PROFILE', 'an AWS profile'],
  ['CREDENTIALS_SSO', 'single sign-on'],
  ['CREDENTIALS_HTTP', 'the container (EKS Pod Identity or ECS)'],
  ['CREDENTIALS_ENV_VARS', 'environment variables AWS_*'],
];

/** Describes the client's credentials without the secret. Throws if there are none. */
export async function describeIdentity(client: S3Client): Promise<string> {
  const keys = await client.config.credentials();
  const reported = '$source' in keys && typeof keys.$source === 'object' ? Object.keys(keys.$source ?? {}) : [];
  const source = sources.find(([feature]) => reported.includes(feature))?.[1] ?? 'the instance or another source';
  const until = keys.expiration ? `, valid until ${keys.expiration.toISOString()}` : '';
  return `access key ${keys.accessKeyId} from ${source}${until}`;
}
