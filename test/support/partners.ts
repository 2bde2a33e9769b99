import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { rememberSecrets } from './known-secrets.ts';
import { inletOutput } from './run-inlet.ts';

/** What `inlet partner create` prints. */
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
  /** With the partner's own credentials, which reach its prefix only. */
  readonly s3: S3Client;
  readonly upload: (path: string, body: Uint8Array | string) => Promise<void>;
  /** The operator's command line, in this partner's stores. */
  readonly operate: (...parameters: string[]) => Promise<string>;
  readonly createAttribute: (name: string, ...foreignKeys: string[]) => Promise<number>;
  readonly createCustomer: (name: string) => Promise<TestCustomer>;
  /** One more API key; `options` of `inlet key create`. */
  readonly createKey: (...options: string[]) => Promise<TestKey>;
};

export type TestKey = { readonly id: number; readonly apiKey: string };

type TestCustomer = { readonly id: number; readonly userToken: string; readonly tokenId: number };

let serial = 0;

/** A new partner with everything that provisioning gives it. `folder`: of another release than this one. */
export async function createPartner(
  environment: Readonly<Record<string, string>>,
  folder?: string,
): Promise<TestPartner> {
  serial += 1;
  const operate = (...parameters: string[]): Promise<string> => inletOutput(environment, parameters, folder);
  const name = `p-${process.pid}-${Date.now().toString(36)}-${serial}`;
  const issued = issuedSchema.parse(JSON.parse(await operate('partner', 'create', name)));
  const { storage } = issued;
  rememberSecrets(issued.api_key, storage.secret_access_key);
  const { endpoint, region } = readAddresses().s3;
  const s3 = connectS3({
    endpoint,
    region,
    accessKeyId: storage.access_key_id,
    secretAccessKey: new Secret(storage.secret_access_key),
  });
  return {
    id: issued.partner_id,
    name,
    apiKey: issued.api_key,
    prefix: storage.prefix,
    bucket: storage.bucket,
    storageKeys: { accessKeyId: storage.access_key_id, secretAccessKey: storage.secret_access_key },
    s3,
    upload: async (path, body) => {
      await s3.send(new PutObjectCommand({ Bucket: storage.bucket, Key: storage.prefix + path, Body: body }));
    },
    operate,
    createAttribute: async (attribute, ...foreignKeys) => {
      const keys = foreignKeys.flatMap((key) => ['--foreign-key', key]);
      const made = await operate('attribute', 'create', '--partner', name, '--name', attribute, ...keys);
      return z.object({ attribute_id: z.int() }).parse(JSON.parse(made)).attribute_id;
    },
    createCustomer: (customer) => createCustomer(operate, name, customer),
    createKey: async (...options) => toTestKey(await operate('key', 'create', '--partner', name, ...options)),
  };
}

/** What `inlet key create` or `rotate` printed. */
export function toTestKey(printed: string): TestKey {
  const { key_id, api_key } = z.object({ key_id: z.int(), api_key: z.string() }).parse(JSON.parse(printed));
  rememberSecrets(api_key);
  return { id: key_id, apiKey: api_key };
}

const issuedTokenSchema = z.object({ token_id: z.int(), customer_id: z.int(), user_token: z.string() });

/** A customer with a user token. */
async function createCustomer(operate: TestPartner['operate'], partner: string, name: string): Promise<TestCustomer> {
  await operate('customer', 'create', '--partner', partner, '--name', name);
  const made = await operate('user-token', 'create', '--partner', partner, '--customer', name);
  const issued = issuedTokenSchema.parse(JSON.parse(made));
  rememberSecrets(issued.user_token);
  return { id: issued.customer_id, userToken: issued.user_token, tokenId: issued.token_id };
}
