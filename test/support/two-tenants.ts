import { publishedWith } from '../../src/adapters/postgres/composition-store.ts';
import { proofExample } from '../../src/adapters/http/records/deletion.ts';
import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { randomKeys } from '../../src/adapters/vault/keys.ts';
import { rememberSecrets } from './known-secrets.ts';
import { type TestStores, withDatabase } from './stores.ts';
import { type BarePartner, type Wired, newBarePartner } from './wired.ts';

/** The maximum number of open jobs per partner. It is low, so that counting another partner's jobs would be noticed. */
export const openJobsOfOwner = 5;
/** The maximum number of webhooks per partner, which is low for the same reason. */
export const webhooksOfOwner = 1;
/** The maximum number of subscriptions per partner, which is low for the same reason. */
export const subscriptionsOfOwner = 1;

/**
 * The owner's IDs start at this number and its strings contain "secret", so that a test recognizes them in any response.
 */
const firstIdOfOwner = 700_000_000;
export const ofOwner = /secret|\b7\d{8}\b/;

const eventOfOwner = JSON.stringify({
  audienceId: firstIdOfOwner + 1,
  warehouseSegmentId: firstIdOfOwner + 2,
  split: null,
});

/** An `Idempotency-Key` that the owner has used. */
export const keyOfOwner = 'secret-request';

type Owner = BarePartner & {
  readonly importLogId: number;
  readonly failedImportLogId: number;
  readonly attributeId: number;
  readonly webhookId: number;
  readonly subscriptionId: number;
  readonly deletionId: number;
  readonly audienceId: number;
  readonly otherAudienceId: number;
  readonly segmentId: number;
  /** A failed file of the audience. */
  readonly fileId: number;
  /** A key that nothing else uses, and a customer without audiences. */
  readonly keyId: number;
  readonly customerId: number;
  readonly tokenId: number;
  readonly openAppendId: number;
  readonly failedAppendId: number;
  readonly doomedAudienceId: number;
  readonly customers: readonly Customer[];
};
type Customer = {
  readonly name: string;
  readonly userToken: string;
  readonly audienceId: number;
  readonly otherAudienceId: number;
  readonly segmentId: number;
  /** A failed file of the audience. */
  readonly fileId: number;
  readonly openAppendId: number;
  readonly failedAppendId: number;
  readonly doomedAudienceId: number;
};

export type TwoTenants = { readonly owner: Owner; readonly intruder: BarePartner };

const addAudience = 'INSERT INTO audience (partner_id, customer_id, name) VALUES ($1, $2, $3) RETURNING id';

/**
 * Creates a partner with a row in every table and a partner with no rows. Writes to the tables directly, without a
 * worker.
 */
export async function insertTwoTenants(stores: TestStores, deps: Wired): Promise<TwoTenants> {
  const intruder = await newBarePartner(deps);
  return withDatabase(stores, async (client) => {
    const idOf = async (statement: string, ...values: unknown[]): Promise<number> =>
      Number((await client.query<{ id: string }>(statement, values)).rows[0]?.id);
    await client.query(
      `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, $1) FROM pg_sequences WHERE schemaname = 'public'`,
      [firstIdOfOwner],
    );
    const partner = await newBarePartner(deps);
    await client.query(`UPDATE partner SET prefix = 'secret-' || prefix, next_seq = 100 WHERE id = $1`, [partner.id]);
    const attributeId = await idOf(
      `INSERT INTO attribute (partner_id, name) VALUES ($1, 'secret-sport') RETURNING id`,
      partner.id,
    );
    await client.query(
      `INSERT INTO attribute_foreign_key (partner_id, foreign_key, attribute_id) VALUES ($1, 'secret-key', $2)`,
      [partner.id, attributeId],
    );
    await client.query(
      `INSERT INTO accepted_request (partner_id, key_hash, fingerprint, result) VALUES ($1, $2, 'secret', '{}')`,
      [partner.id, createHash('sha256').update(keyOfOwner).digest()],
    );
    await client.query('INSERT INTO request_window (partner_id, key_id, number, taken) VALUES ($1, 0, 0, 1)', [
      partner.id,
    ]);
    for (const [id, stored] of [
      [partner.id, 77],
      [intruder.id, 0],
    ])
      await client.query('INSERT INTO partner_usage (partner_id, stored_rows) VALUES ($1, $2)', [id, stored]);
    let seq = 0;
    const job = (kind: string, status: number): Promise<number> =>
      idOf(
        `INSERT INTO job (partner_id, seq, kind, status, failure_code, failure_detail)
         VALUES ($1, $2, $3, $4, 'no_files', 'secret') RETURNING id`,
        partner.id,
        (seq += 1),
        kind,
        status,
      );
    const importJob = async (status: number): Promise<number> => {
      const id = await job('import', status);
      await client.query(
        `INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type)
         VALUES ($1, $2, 0, 'secret.csv', 0, 1)`,
        [id, partner.id],
      );
      await client.query(`INSERT INTO job_credential (job_id, key_id, sealed) VALUES ($1, 'stack', 'secret')`, [id]);
      return id;
    };
    const file = async (jobId: number, audienceId: number | null): Promise<number> => {
      const id = await idOf(
        `INSERT INTO job_file (job_id, partner_id, key, path, etag, size, status, batch_id, audience_id, generation,
           failure_code, failure_detail)
         VALUES ($1, $2, 'secret.csv', 'secret.csv', 'secret', 1, 3, 1, $3, $4, 'empty_file', 'secret') RETURNING id`,
        jobId,
        partner.id,
        audienceId,
        audienceId === null ? null : 0,
      );
      await client.query(
        `INSERT INTO job_file_reject (job_file_id, reason, rows, first_row) VALUES ($1, 'zero_id', 1, 1)`,
        [id],
      );
      return id;
    };
    /** An export that failed, so that requesting it again restarts it. */
    const rejects = async (jobId: number, fileId: number, isOfFile: boolean): Promise<void> => {
      const id = await idOf(
        `INSERT INTO reject_export (partner_id, job_id, job_file_id, folder, status, expires_at, failure_detail)
         VALUES ($1, $2, $3, 'secret', 3, now() + interval '1 day', 'secret') RETURNING id`,
        partner.id,
        jobId,
        isOfFile ? fileId : null,
      );
      await client.query(
        `INSERT INTO reject_file (export_id, job_file_id, partner_id, object_key) VALUES ($1, $2, $3, 'secret')`,
        [id, fileId, partner.id],
      );
    };
    const audience = async (customerId: number | null) => {
      const { rows } = await client.query<{ id: string; warehouse_segment_id: string }>(
        `INSERT INTO audience (partner_id, customer_id, name, last_load_id) VALUES ($1, $2, 'secret-audience', 1)
         RETURNING id, warehouse_segment_id`,
        [partner.id, customerId],
      );
      const audienceId = Number(rows[0]?.id);
      let fileId = 0;
      const appends = new Map<number, number>();
      for (const status of [2, 3, 0]) {
        const jobId = await job('audience', status);
        await client.query(
          `INSERT INTO audience_load (job_id, partner_id, audience_id, generation, file_path) VALUES ($1, $2, $3, 0, 'secret-path')`,
          [jobId, partner.id, audienceId],
        );
        appends.set(status, jobId);
        if (status === 2) fileId = await file(jobId, audienceId);
        if (status === 2) await rejects(jobId, fileId, true);
      }
      await client.query(
        `INSERT INTO dead_generation (audience_id, generation, partner_id, requested_by) VALUES ($1, -1, $2, 'secret')`,
        [audienceId, partner.id],
      );
      const report = { members: '0', matched: 0, known: 0, cells: [] };
      const published = {
        isProtected: true,
        matchedDevices: 0,
        warehouseDevices: 0,
        top: { devices: [], index: [], lowest_index: [] },
        totals: { entries: 0, small: 0, hidden: 0 },
      };
      await client.query(
        `INSERT INTO composition (audience_id, split, generation, last_load_id, report, published, published_with)
         VALUES ($1, 'none', 0, 1, $2, $3, $4)`,
        [
          audienceId,
          JSON.stringify(report),
          JSON.stringify(published),
          publishedWith({
            audience: { partnerId: partner.id, customerId, audienceId, generation: 0, lastLoadId: 1 },
            counting: 'none',
            settings: deps.reportSettings,
          }),
        ],
      );
      await client.query(
        `INSERT INTO index_audience (audience_id, partner_id, generation, load_id, fold_id, devices) VALUES ($1, $2, 0, 1, 1, 0)`,
        [audienceId, partner.id],
      );
      const otherAudienceId = await idOf(addAudience, partner.id, customerId, 'secret-other');
      const doomedAudienceId = await idOf(addAudience, partner.id, customerId, 'secret-doomed');
      await client.query(
        `INSERT INTO report_request (audience_id, split, settings, state, partner_id) VALUES ($1, 'secret', '', '', $2)`,
        [audienceId, partner.id],
      );
      return {
        audienceId,
        otherAudienceId,
        doomedAudienceId,
        segmentId: Number(rows[0]?.warehouse_segment_id),
        fileId,
        openAppendId: appends.get(0) ?? 0,
        failedAppendId: appends.get(3) ?? 0,
      };
    };
    await client.query(
      `INSERT INTO report_draw (partner_id, customer_id, kind, draws) VALUES ($1, 0, 'composition', 1)`,
      [partner.id],
    );
    await client.query(`INSERT INTO event_counter (partner_id, last_sequence) VALUES ($1, 3)`, [partner.id]);
    await client.query(`INSERT INTO event (partner_id, sequence, type, data) VALUES ($1, 1, 'report.ready', $2)`, [
      partner.id,
      eventOfOwner,
    ]);
    const webhookId = await idOf(
      `INSERT INTO webhook (partner_id, url, description) VALUES ($1, 'https://secret.example.com/', 'secret') RETURNING id`,
      partner.id,
    );
    await client.query(
      `INSERT INTO webhook_secret (webhook_id, partner_id, key_id, sealed) VALUES ($1, $2, 'stack', 'secret')`,
      [webhookId, partner.id],
    );
    await client.query('INSERT INTO webhook_state (webhook_id, partner_id, position) VALUES ($1, $2, 3)', [
      webhookId,
      partner.id,
    ]);
    await client.query(
      `INSERT INTO webhook_delivery (webhook_id, sequence, partner_id, event_type) VALUES ($1, 1, $2, 'secret')`,
      [webhookId, partner.id],
    );
    const subscriptionId = await idOf(
      `INSERT INTO subscription (partner_id, prefix, key_type, compressed, skips_existing, quiet_seconds)
       VALUES ($1, 'secret/', 1, false, true, 10) RETURNING id`,
      partner.id,
    );
    await client.query('INSERT INTO subscription_state (subscription_id, partner_id) VALUES ($1, $2)', [
      subscriptionId,
      partner.id,
    ]);
    await client.query(
      `INSERT INTO subscription_object (subscription_id, partner_id, key, etag, size, last_modified, state)
       VALUES ($1, $2, 'secret/secret', 'secret', 1, now(), 'waiting')`,
      [subscriptionId, partner.id],
    );
    const deletionId = await idOf(
      `INSERT INTO erasure (partner_id, requested_by, object_key, status, proof, proof_csv)
       VALUES ($1, 'secret', 'secret', 2, $2, 'secret') RETURNING id`,
      partner.id,
      JSON.stringify(proofExample),
    );
    await client.query('INSERT INTO erased_partner (partner_id, erased_at) VALUES ($1, now())', [partner.id]);
    await client.query(`INSERT INTO overlap (partner_id, key, published) VALUES ($1, 'secret', '{}')`, [partner.id]);
    await client.query(
      `INSERT INTO console_link (token_hash, partner_id, api_key_id, segment_id, audience_id, expires_at)
       SELECT 'secret', $1, min(id), $2, $2, now() + interval '1 hour' FROM api_key WHERE partner_id = $1`,
      [partner.id, firstIdOfOwner],
    );
    await client.query(
      `INSERT INTO upload (partner_id, object_key, storage_id, expires_at) VALUES ($1, 'secret', 'secret', now())`,
      [partner.id],
    );
    const importLogId = await importJob(1);
    await file(importLogId, null);
    const failedImportLogId = await importJob(3);
    await rejects(failedImportLogId, await file(failedImportLogId, null), false);
    // The partner and its two customers each have an open append.
    for (let open = 4; open < openJobsOfOwner; open += 1) await importJob(0);
    const customers: Customer[] = [];
    for (const name of ['secret-one', 'secret-two']) {
      const customerId = await idOf(
        'INSERT INTO customer (partner_id, name) VALUES ($1, $2) RETURNING id',
        partner.id,
        name,
      );
      const token = randomKeys('userToken', 'test').issue();
      rememberSecrets(token.key.reveal());
      await client.query('INSERT INTO user_token (partner_id, customer_id, token_hash) VALUES ($1, $2, $3)', [
        partner.id,
        customerId,
        Buffer.from(token.hash),
      ]);
      await client.query(
        `INSERT INTO event (partner_id, sequence, customer_id, type, data) VALUES ($1, $2, $3, 'report.ready', $4)`,
        [partner.id, 2 + customers.length, customerId, eventOfOwner],
      );
      customers.push({ name, userToken: token.key.reveal(), ...(await audience(customerId)) });
    }
    await client.query(`INSERT INTO storage_key (partner_id, access_key_id) VALUES ($1, 'secret-access')`, [
      partner.id,
    ]);
    const spare = { keyId: firstIdOfOwner + 900, customerId: firstIdOfOwner + 901, tokenId: firstIdOfOwner + 902 };
    await insertSpare(client, { ...partner, ...spare });
    const owner = {
      ...partner,
      ...spare,
      importLogId,
      failedImportLogId,
      attributeId,
      webhookId,
      subscriptionId,
      deletionId,
      ...(await audience(null)),
      customers,
    };
    return { owner, intruder };
  });
}

/** Creates the owner's unused key and customer. Replaces the key if it exists, because a revocation is permanent. */
export async function insertSpare(
  client: Client,
  { id, keyId, customerId, tokenId }: Pick<Owner, 'id' | 'keyId' | 'customerId' | 'tokenId'>,
): Promise<void> {
  await client.query('DELETE FROM api_key WHERE id = $1', [keyId]);
  await client.query(`INSERT INTO api_key (id, partner_id, key_hash, name) VALUES ($1, $2, 'secret', 'secret-spare')`, [
    keyId,
    id,
  ]);
  await client.query(
    `INSERT INTO customer (id, partner_id, name) VALUES ($1, $2, 'secret-idle') ON CONFLICT DO NOTHING`,
    [customerId, id],
  );
  await client.query(
    `INSERT INTO user_token (id, partner_id, customer_id, token_hash) VALUES ($1, $2, $3, 'secret-idle')
     ON CONFLICT DO NOTHING`,
    [tokenId, id, customerId],
  );
}
