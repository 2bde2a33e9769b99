import { PutObjectCommand } from '@aws-sdk/client-s3';
import { connectS3 } from '../src/adapters/s3/connect.ts';
import { Secret } from '../src/domain/secret.ts';
import type { Config } from '../src/entry/config.ts';
import { createLogger } from '../src/entry/logging.ts';
import { storageProvisioner } from '../src/entry/storage-provisioner.ts';
import { wireCli } from '../src/entry/wire-cli.ts';
import { accessRecorder } from '../src/usecases/access/record-access.ts';
import { authenticateCaller } from '../src/usecases/access/authenticate-caller.ts';
import { createCustomer } from '../src/usecases/admin/manage-keys.ts';
import { createAttribute, provisionPartner } from '../src/usecases/admin/manage-partners.ts';
import { demoCustomer } from './demo-accounts.ts';
import { type DemoSession, readDemoSession } from './demo-session.ts';
import { demoAttributes, sampleFiles } from './sample-files.ts';

type DemoPartner = Omit<DemoSession, 'url'>;

/**
 * Creates a demo partner with attributes, a customer, and sample files, or reuses the previous partner if its key is still valid.
 */
export async function provisionDemo(config: Config): Promise<DemoPartner> {
  const log = createLogger({ name: 'inlet-dev', level: 'warn' });
  const deps = await wireCli(config, log, 'inlet-dev');
  try {
    const before = await readDemoSession();
    if (
      before &&
      (await authenticateCaller({ ...deps, access: accessRecorder({ ...deps, log }) }, `Bearer ${before.apiKey}`).catch(
        () => null,
      ))
    )
      return before;
    const name = `demo-${Date.now().toString(36)}`;
    const provisioned = await provisionPartner({ ...deps, storage: storageProvisioner(config, deps.s3) }, name);
    for (const attribute of demoAttributes) {
      await createAttribute(deps, name, { name: attribute, foreignKeys: [attribute] });
    }
    await createCustomer(deps, name, demoCustomer);
    const partner = {
      partner: name,
      apiKey: provisioned.apiKey.reveal(),
      bucket: provisioned.storage.bucket,
      prefix: provisioned.storage.prefix,
      accessKeyId: provisioned.storage.accessKeyId,
      secretAccessKey: provisioned.storage.secretAccessKey.reveal(),
    };
    await uploadSamples(config, partner);
    return partner;
  } finally {
    await deps.close();
  }
}

/** Uploads files to the partner's prefix with the partner's credentials, as a partner would. */
async function uploadSamples(config: Config, partner: DemoPartner): Promise<void> {
  const s3 = connectS3({
    endpoint: config.INLET_S3_ENDPOINT ?? null,
    region: config.INLET_S3_REGION,
    accessKeyId: partner.accessKeyId,
    secretAccessKey: new Secret(partner.secretAccessKey),
  });
  for (const { path, body } of sampleFiles()) {
    await s3.send(new PutObjectCommand({ Bucket: partner.bucket, Key: partner.prefix + path, Body: body }));
  }
  s3.destroy();
}
