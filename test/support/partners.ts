import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { configFor } from './environment.ts';
import { rememberSecrets } from './known-secrets.ts';
import { createApiKey, createCustomer, createUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { createAttribute, provisionPartner } from '../../src/usecases/admin/manage-partners.ts';
import { asOperator } from './operator.ts';
import { inletOutput } from './run-inlet.ts';
import { operatorOutput } from './run-operator.ts';

/** The output of `inlet partner create`. */
export const issuedSchema = z.object({
  partner_id: z.int(),
  name: z.string(),
  api_key: z.string(),
  storage: z.object({
    bucket: z.string(),
    prefix: z.string(),
    access_key_id: z.string(),
    secret_access_key: z.string(),
  }),
});

export type TestPartner = {
  readonly id: number;
  readonly name: string;
  readonly apiKey: string;
  readonly prefix: string;
  readonly bucket: string;
  readonly storageKeys: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** A client with the partner's own credentials, which can access only the partner's prefix. */
  readonly s3: S3Client;
  readonly upload: (path: string, body: Uint8Array | string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
  /** Runs an operator command. */
  readonly operate: (...parameters: string[]) => Promise<string>;
  readonly createAttribute: (name: string, ...foreignKeys: string[]) => Promise<number>;
  readonly createCustomer: (name: string) => Promise<TestCustomer>;
  readonly createKey: (name?: string) => Promise<TestKey>;
};

export type TestKey = { readonly id: number; readonly apiKey: string };

type TestCustomer = { readonly id: number; readonly userToken: string; readonly tokenId: number };

let serial = 0;

type Issued = Pick<TestPartner, 'id' | 'name' | 'apiKey' | 'prefix' | 'bucket' | 'storageKeys'>;

/** Provisions a partner in this process or, with `release`, with the operator CLI of that source tree. */
export async function createPartner(
  environment: Readonly<Record<string, string>>,
  release?: string,
): Promise<TestPartner> {
  serial += 1;
  const name = `p-${process.pid}-${Date.now().toString(36)}-${serial}`;
  const operate = (...parameters: string[]): Promise<string> =>
    release === undefined ? operatorOutput(environment, parameters) : inletOutput(environment, parameters, release);
  const issued = release === undefined ? await provision(environment, name) : await provisionByCli(operate, name);
  const { bucket, prefix, storageKeys } = issued;
  rememberSecrets(issued.apiKey, storageKeys.secretAccessKey);
  const { endpoint, region } = readAddresses().s3;
  const s3 = connectS3({
    endpoint,
    region,
    accessKeyId: storageKeys.accessKeyId,
    secretAccessKey: new Secret(storageKeys.secretAccessKey),
  });
  return {
    ...issued,
    s3,
    upload: async (path, body) => {
      await s3.send(new PutObjectCommand({ Bucket: bucket, Key: prefix + path, Body: body }));
    },
    remove: async (path) => {
      await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: prefix + path }));
    },
    operate,
    createAttribute: (attribute, ...foreignKeys) =>
      asOperator(
        environment,
        async (operator) => (await createAttribute(operator, name, { name: attribute, foreignKeys })).id,
      ),
    createCustomer: (customer) =>
      asOperator(environment, async (operator) => {
        await createCustomer(operator, name, customer);
        const { id, token, customer: made } = await createUserToken(operator, name, customer);
        rememberSecrets(token.reveal());
        return { id: made.id, userToken: token.reveal(), tokenId: id };
      }),
    createKey: (keyName = '') =>
      asOperator(environment, async (operator) => {
        const wish = { name: keyName, scopes: null, livesSeconds: null };
        const { key, made } = await createApiKey(operator, name, wish);
        rememberSecrets(key.reveal());
        return { id: made.id, apiKey: key.reveal() };
      }),
  };
}

function provision(environment: Readonly<Record<string, string>>, name: string): Promise<Issued> {
  return asOperator(environment, async (operator) => {
    const { partner, apiKey, storage } = await provisionPartner(operator, name);
    return {
      id: partner.id,
      name,
      apiKey: apiKey.reveal(),
      prefix: partner.prefix,
      bucket: configFor(environment).INLET_S3_BUCKET,
      storageKeys: { accessKeyId: storage.accessKeyId, secretAccessKey: storage.secretAccessKey.reveal() },
    };
  });
}

async function provisionByCli(operate: TestPartner['operate'], name: string): Promise<Issued> {
  // Earlier releases always print JSON and have no such option.
  const printed = await operate('partner', 'create', name, '--json').catch(() => operate('partner', 'create', name));
  const { partner_id, api_key, storage } = issuedSchema.parse(JSON.parse(printed));
  return {
    id: partner_id,
    name,
    apiKey: api_key,
    prefix: storage.prefix,
    bucket: storage.bucket,
    storageKeys: { accessKeyId: storage.access_key_id, secretAccessKey: storage.secret_access_key },
  };
}

/** Parses the output of `inlet key create` or `inlet key rotate`. */
export function toTestKey(printed: string): TestKey {
  const { key_id, api_key } = z.object({ key_id: z.int(), api_key: z.string() }).parse(JSON.parse(printed));
  rememberSecrets(api_key);
  return { id: key_id, apiKey: api_key };
}
