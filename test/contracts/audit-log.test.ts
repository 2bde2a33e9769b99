import { sql } from 'kysely';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresApiKeyStore } from '../../src/adapters/postgres/api-key-store.ts';
import { postgresAttributeStore } from '../../src/adapters/postgres/attribute-store.ts';
import { postgresAuditLog } from '../../src/adapters/postgres/audit-log.ts';
import { postgresCustomerStore } from '../../src/adapters/postgres/customer-store.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import type { AuditEntry } from '../../src/domain/audit.ts';
import type { AuditLog } from '../../src/ports/partner-store.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores } from '../support/stores.ts';

describe('the audit log', () => {
  let stores: TestStores;
  let db: Database;
  let audit: AuditLog;

  beforeAll(async () => {
    stores = await createPostgresStores();
    const url = stores.config.INLET_POSTGRES_URL;
    db = connectPostgres({ url, name: 'test', actor: 'ann@desk 1; x', maxConnections: 4, log: silentLog });
    audit = postgresAuditLog(db);
  });
  afterAll(async () => {
    await db.destroy();
    await stores.drop();
  });

  const newPartner = async (): Promise<{ id: number; keyHash: Buffer }> => {
    const [name, keyHash] = [`p-${randomBytes(6).toString('hex')}`, randomBytes(32)];
    return { id: (await postgresPartnerStore(db).create({ name, prefix: `${name}/`, keyHash })).id, keyHash };
  };
  /** Returns the entries, oldest first. */
  const entriesOf = async (partnerId: number | null): Promise<AuditEntry[]> =>
    [...(await audit.list({ partnerId, beforeId: Number.MAX_SAFE_INTEGER, limit: 1_000 }))].toReversed();
  /** Returns the entries that an action adds to a partner's log. */
  const addedBy = async (partnerId: number, work: () => Promise<unknown>): Promise<AuditEntry[]> => {
    const before = await entriesOf(partnerId);
    await work();
    return (await entriesOf(partnerId)).slice(before.length);
  };

  it('records the time, actor, and database user when a partner and its key are created', async () => {
    const { id } = await newPartner();
    const entries = await entriesOf(id);
    expect(entries.map(({ event }) => event)).toEqual(['partner.insert', 'api_key.insert']);
    const [made, key] = entries;
    const common = { partnerId: id, actor: 'ann@desk_1__x', databaseUser: expect.any(String) as unknown, calls: 1 };
    expect(made).toMatchObject({ ...common, subjectId: id, keyId: null, detail: { audience_bad_row_share: 0 } });
    expect(key).toMatchObject({ ...common, keyId: key?.subjectId, detail: { name: 'first', partner_id: id } });
    expect(Math.abs((made?.at.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it('records the state of a key before and after rotation and revocation', async () => {
    const keys = postgresApiKeyStore(db);
    const { id } = await newPartner();
    const [first] = await keys.list(id, { afterId: 0, limit: 1 });
    const keyId = first?.id ?? 0;
    const next = { keyHash: randomBytes(32), overlapSeconds: 60, livesSeconds: null };
    const rotated = await addedBy(id, () => keys.rotate(id, keyId, next));
    expect(rotated.map(({ event }) => event)).toEqual(['api_key.update', 'api_key.insert']);
    expect(rotated[0]).toMatchObject({ keyId, detail: { changed: ['expires_at'], before: { expires_at: null } } });
    const revoked = await addedBy(id, () => keys.revoke(id, keyId));
    expect(revoked).toMatchObject([{ event: 'api_key.update', keyId, detail: { changed: ['revoked_at'] } }]);
    expect(await addedBy(id, () => keys.revoke(id, keyId))).toEqual([]);
  });

  it('records changes to customers, tokens, partner settings, attributes, and foreign keys', async () => {
    const { id } = await newPartner();
    const [customers, attributes] = [postgresCustomerStore(db), postgresAttributeStore(db)];
    const events = await addedBy(id, async () => {
      const customer = await customers.create(id, 'Shoes');
      const token = await customers.addToken(id, customer.id, randomBytes(32));
      await customers.revokeToken(id, token ?? 0);
      await postgresPartnerStore(db).writeSettings(id, { audienceBadRowShare: 0.5 });
      const many = Array.from({ length: 500 }, (_, n) => `key-${String(n).padStart(3, '0')}`);
      await attributes.create(id, { name: 'sport', foreignKeys: many });
    });
    expect(events.map(({ event }) => event)).toEqual([
      'customer.insert',
      'user_token.insert',
      'user_token.update',
      'partner.update',
      'attribute.insert',
      'attribute_foreign_key.insert',
    ]);
    expect(events[3]?.detail).toEqual({
      changed: ['audience_bad_row_share'],
      before: { audience_bad_row_share: 0 },
      after: { audience_bad_row_share: 0.5 },
    });
    expect(events[5]).toMatchObject({ subjectId: events[4]?.subjectId, detail: { count: 500 } });
    expect(events[5]?.detail).toHaveProperty('first.length', 20);
  });

  it.each([
    ['UPDATE partner SET next_seq = next_seq + 1', 0],
    ['UPDATE partner SET purge_after = now()', 0],
    ['UPDATE api_key SET last_used_at = now()', 0],
    ['UPDATE attribute SET retired_at = now()', 1],
    ['UPDATE customer SET name = name', 0],
    [`UPDATE customer SET name = name || '!'`, 1],
    [`UPDATE api_key SET key_hash = '\\x00'`, 1],
    ['DELETE FROM user_token', 1],
    ['DELETE FROM attribute_foreign_key', 1],
  ])('the statement "%s" adds %i entries', async (statement, times) => {
    const { id } = await newPartner();
    const customer = await postgresCustomerStore(db).create(id, 'Bags');
    await postgresCustomerStore(db).addToken(id, customer.id, randomBytes(32));
    await postgresAttributeStore(db).create(id, { name: 'sport', foreignKeys: ['a', 'b'] });
    const column = statement.includes(' partner ') ? 'id' : 'partner_id';
    expect(await addedBy(id, () => sql.raw(`${statement} WHERE ${column} = ${id}`).execute(db))).toHaveLength(times);
  });

  it('records that a table was truncated', async () => {
    await sql`TRUNCATE attribute_foreign_key`.execute(db);
    expect((await entriesOf(null)).at(-1)).toMatchObject({ event: 'attribute_foreign_key.truncate', partnerId: null });
  });

  it.each([
    ['UPDATE audit_log SET actor = $$other$$', 'the audit log is only added to'],
    ['UPDATE audit_log SET at = at WHERE at < now() - interval $$1 year$$', 'the audit log is only added to'],
    ['TRUNCATE audit_log', 'the audit log is only added to'],
    ['DELETE FROM audit_log', 'can be deleted after 90 days'],
    ['DELETE FROM audit_log WHERE at > now() - interval $$89 days$$', 'can be deleted after 90 days'],
  ])('rejects a statement that would change the audit log: %s', async (statement, reason) => {
    await newPartner();
    await sql`INSERT INTO audit_log (at, event, actor) VALUES (now() - interval '91 days', 'old', 'test')`.execute(db);
    const before = await entriesOf(null);
    expect(before.length).toBeGreaterThan(0);
    await expect(sql.raw(statement).execute(db)).rejects.toThrow(reason);
    expect(await entriesOf(null)).toEqual(before);
  });

  it('allows entries to be deleted after 90 days', async () => {
    await sql`INSERT INTO audit_log (at, event, actor) VALUES (now() - interval '91 days', 'aged', 'test')`.execute(db);
    await sql`DELETE FROM audit_log WHERE event = 'aged'`.execute(db);
    expect((await entriesOf(null)).filter(({ event }) => event === 'aged')).toEqual([]);
  });

  it('contains no hash of a key or token', async () => {
    const { id, keyHash } = await newPartner();
    const tokenHash = randomBytes(32);
    const customer = await postgresCustomerStore(db).create(id, 'Hats');
    await postgresCustomerStore(db).addToken(id, customer.id, tokenHash);
    await sql`UPDATE user_token SET token_hash = ${randomBytes(32)} WHERE partner_id = ${id}`.execute(db);
    const { rows } = await sql<{ text: string }>`SELECT a::text AS text FROM audit_log a`.execute(db);
    const text = rows.map((row) => row.text).join('\n');
    for (const hash of [keyHash, tokenHash]) expect(text).not.toContain(hash.toString('hex'));
    expect(text).toContain('token_hash'); // The log records that the hash changed.
    const { rows: partners } = await sql<{ external_id: string }>`SELECT external_id FROM partner`.execute(db);
    for (const { external_id } of partners) expect(text).not.toContain(external_id);
  });

  it('records denied calls and lists them in pages, newest first', async () => {
    const { id } = await newPartner();
    const call = { at: new Date('2026-11-16T06:00:00Z'), operation: 'getAudience', sessionId: null, calls: 1 };
    await audit.addDenied([]);
    await audit.addDenied([
      { ...call, partnerId: id, keyId: 7, code: 'scope_missing', requestId: 'r-1', address: '203.0.113.7' },
      { ...call, partnerId: null, keyId: null, code: 'unauthenticated', requestId: null, address: null, calls: 12 },
    ]);
    const [stranger, known] = await audit.list({ partnerId: null, beforeId: Number.MAX_SAFE_INTEGER, limit: 2 });
    const common = { event: 'call.denied', at: call.at, operation: 'getAudience', subjectId: null };
    expect(stranger).toMatchObject({
      ...common,
      actor: 'unknown',
      partnerId: null,
      requestId: null,
      calls: 12,
      detail: null,
    });
    expect(known).toMatchObject({
      ...common,
      actor: 'key 7',
      partnerId: id,
      keyId: 7,
      code: 'scope_missing',
      requestId: 'r-1',
      detail: { address: '203.0.113.7' },
    });
    expect(await audit.list({ partnerId: null, beforeId: stranger?.id ?? 0, limit: 1 })).toEqual([known]);
    expect((await entriesOf(id)).at(-1)).toEqual(known);
  });
});
