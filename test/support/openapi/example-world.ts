import { gzipSync } from 'node:zlib';
import { rememberSecrets } from '../known-secrets.ts';
import { rows } from '../file-rows.ts';
import { device } from '../device-id.ts';
import { withDatabase } from '../stores.ts';
import type { Marketplace } from '../start-marketplace.ts';

/**
 * Creates the attributes and files that the document's examples refer to. In fresh stores, the IDs are the same as in
 * the examples.
 */
export async function makeExampleWorld({ partner, stores }: Marketplace): Promise<void> {
  rememberSecrets('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY');
  for (const name of ['sports', 'travel', 'music']) await partner.createAttribute(name, name);
  await partner.upload('with-bad-rows.csv', `${device(1)},sports\nnot-an-id,sports\n${device(2)},sports|travel\n`);
  await partner.upload('daily/2026-11-15/1.csv.gz', gzipSync(`${device(3)},1003\n`));
  await partner.upload('acme/summer/1.csv', rows(0, 20));
  await partner.upload('acme/summer/2.csv', rows(10, 30, 'click'));
  await partner.upload('acme/winter.csv.gz', gzipSync(`${rows(0, 5)}nonsense,click\n`));
  await withDatabase(stores, async (client) => {
    await client.query(`INSERT INTO api_key (id, partner_id, key_hash, name) VALUES (17, $1, 'x', 'example')`, [
      partner.id,
    ]);
    await client.query(`INSERT INTO customer (id, partner_id, name) VALUES (31, $1, 'example')`, [partner.id]);
    await client.query(`INSERT INTO user_token (id, partner_id, customer_id, token_hash) VALUES (42, $1, 31, 'x')`, [
      partner.id,
    ]);
  });
}
