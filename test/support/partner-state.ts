import { withDatabase, type TestStores } from './stores.ts';

/** The number of rows of each kind that a partner's requests have created. */
export type PartnerState = {
  readonly jobs: number;
  readonly records: number;
  readonly audiences: number;
  readonly generations: number;
  /** Lane tokens. */
  readonly tokens: number;
  /** Recorded idempotency keys. */
  readonly requests: number;
};

export function partnerState(stores: TestStores, partnerId: number): Promise<PartnerState> {
  return withDatabase(stores, async (client) => {
    const { rows } = await client.query<Record<keyof PartnerState, string>>(
      `SELECT (SELECT count(*) FROM job WHERE partner_id = $1) AS jobs,
         (SELECT count(*) FROM import_log WHERE partner_id = $1)
           + (SELECT count(*) FROM audience_load WHERE partner_id = $1) AS records,
         (SELECT count(*) FROM audience WHERE partner_id = $1) AS audiences,
         (SELECT coalesce(sum(generation), 0) FROM audience WHERE partner_id = $1) AS generations,
         (SELECT count(*) FROM pgboss.job WHERE name = 'lane' AND singleton_key = $1::text AND state < 'completed') AS tokens,
         (SELECT count(*) FROM accepted_request WHERE partner_id = $1) AS requests`,
      [partnerId],
    );
    const [row] = rows;
    return {
      jobs: Number(row?.jobs),
      records: Number(row?.records),
      audiences: Number(row?.audiences),
      generations: Number(row?.generations),
      tokens: Number(row?.tokens),
      requests: Number(row?.requests),
    };
  });
}
