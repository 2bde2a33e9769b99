import { sql } from 'kysely';
import { z } from 'zod';
import type { ApiKey } from '../../../domain/api-key.ts';
import { scopes } from '../../../domain/caller.ts';
import type { PartnerId } from '../../../domain/ids.ts';
import { requireRoom } from '../../../domain/own-access.ts';
import type { OwnKeys } from '../../../ports/own-access.ts';
import { insertKey, isWorking, rotateKey, shownColumns, toApiKey } from '../api-key-store.ts';
import type { Tx } from '../db/tables.ts';
import { type OwnChangeDeps, notFound, runOwnChange } from './run-change.ts';

const date = z.coerce.date();
const result: z.ZodType<ApiKey> = z.object({
  id: z.number(),
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  createdAt: date,
  lastUsedAt: date.nullable(),
  expiresAt: date.nullable(),
  revokedAt: date.nullable(),
  createdBy: z.string().nullable(),
});

export function postgresOwnKeys(deps: OwnChangeDeps): OwnKeys {
  return {
    create: (change, keyHash, newKey) =>
      runOwnChange(deps, change, { result }, async (tx, creator) => {
        const partnerId = change.caller.partner.id;
        await requireRoomForKey(tx, partnerId);
        return insertKey(tx, partnerId, keyHash, newKey, creator);
      }),
    rotate: (change, keyId, next, check) =>
      runOwnChange(deps, change, { result: z.object({ old: result, made: result }) }, async (tx, creator) => {
        const partnerId = change.caller.partner.id;
        await requireRoomForKey(tx, partnerId);
        const rotated = await rotateKey(tx, partnerId, keyId, next, { creator, check });
        if (!rotated) throw notFound('Working key', keyId);
        return rotated;
      }),
    revoke: async (change, keyId, check) => {
      await runOwnChange(deps, change, { result: z.null(), hasQuota: false }, async (tx) => {
        const ofPartner = tx
          .selectFrom('api_key')
          .select(shownColumns)
          .where('partner_id', '=', change.caller.partner.id);
        check((await ofPartner.where(isWorking).execute()).map(toApiKey));
        const revoked = await tx
          .updateTable('api_key')
          .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
          .where('partner_id', '=', change.caller.partner.id)
          .where('id', '=', keyId)
          .returning('id')
          .executeTakeFirst();
        if (!revoked) throw notFound('Key', keyId);
        return null;
      });
    },
  };
}

async function requireRoomForKey(tx: Tx, partnerId: PartnerId): Promise<void> {
  const { used } = await tx
    .selectFrom('api_key')
    .select(({ fn }) => fn.count<number>('id').as('used'))
    .where('partner_id', '=', partnerId)
    .executeTakeFirstOrThrow();
  requireRoom('apiKeys', used);
}
