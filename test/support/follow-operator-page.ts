import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { apiClient } from '../acceptance/api-client.ts';
import { blocksOf } from '../pages/page-blocks.ts';
import { differenceFrom } from '../pages/shown-result.ts';
import { device } from './device-id.ts';
import { rememberSecrets } from './known-secrets.ts';
import { issuedSchema } from './partners.ts';
import { runOperator } from './run-operator.ts';
import { type Service, startService } from './running-service.ts';
import type { TestStores } from './stores.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';

export const commandsPage = 'docs/operators/commands.md';

const secretsSchema = z.object({ api_key: z.string().optional(), user_token: z.string().optional() }).loose();

/** Runs the operator commands of a page one after another, in the state that the page describes. */
async function pageRunner(stores: TestStores): Promise<{
  readonly run: (command: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}> {
  let service: Service | undefined;
  const setUp = async (printed: string): Promise<void> => {
    const { api_key: apiKey, storage } = issuedSchema.parse(JSON.parse(printed));
    const { endpoint, region } = readAddresses().s3;
    const s3 = connectS3({
      endpoint,
      region,
      accessKeyId: storage.access_key_id,
      secretAccessKey: new Secret(storage.secret_access_key),
    });
    const body = `${device(1)},sports\n${device(2)},sports\n${device(3)},unknown\n`;
    await s3.send(new PutObjectCommand({ Bucket: storage.bucket, Key: `${storage.prefix}daily/1.csv`, Body: body }));
    s3.destroy();
    await runOperator(stores.environment, [
      'attribute',
      'create',
      '--partner',
      'acme',
      '--name',
      'Sports',
      '--foreign-key',
      'sports',
    ]);
    service = await startService(stores.environment, 'operator-page');
    const api = apiClient(service.url, apiKey);
    for (const file_path of ['daily/1.csv', 'daily/2.csv'])
      await api.waitForEnd(await api.queue({ file_path, key_type: 1 }));
  };
  return {
    run: async (command) => {
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      const { out } = await runOperator(stores.environment, words.slice(1));
      if (out.startsWith('{')) {
        const { api_key = '', user_token = '' } = secretsSchema.parse(JSON.parse(out));
        rememberSecrets(...[api_key, user_token].filter((secret) => secret !== ''));
      }
      if (command === 'inlet partner create acme --json') await setUp(out);
      return out;
    },
    stop: async () => service?.stop(),
  };
}

/** Returns one line per command whose output differs from the page. */
export async function followOperatorPage(stores: TestStores): Promise<{ ran: string[]; differences: string[] }> {
  const { run, stop } = await pageRunner(stores);
  const [ran, differences]: [string[], string[]] = [[], []];
  let printed = '';
  try {
    for (const block of blocksOf(readFileSync(commandsPage, 'utf8'))) {
      if (block.isResult) {
        const difference = differenceFrom(block, printed);
        if (difference !== null) differences.push(`${commandsPage}:${block.line}: ${difference}`);
      } else if (block.language === 'sh' && block.mark.is === 'followed') {
        printed = await run(block.text);
        ran.push(block.text);
      }
    }
  } finally {
    await stop();
  }
  return { ran, differences };
}
