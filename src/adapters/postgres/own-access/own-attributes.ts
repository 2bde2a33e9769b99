import { sql } from 'kysely';
import { z } from 'zod';
import type { Attribute } from '../../../domain/attribute.ts';
import type { PartnerId } from '../../../domain/ids.ts';
import { type Quotas, defaultQuotas } from '../../../domain/quota.ts';
import type { OwnAttributes, OwnChange } from '../../../ports/own-access.ts';
import {
  attributeTaken,
  changeAttribute,
  insertAttribute,
  selectAttributes,
  tieForeignKeys,
  withinQuotas,
} from '../attribute-store.ts';
import type { Tx } from '../db/tables.ts';
import { explainUniqueViolation } from '../db/unique-violation.ts';
import { type OwnChangeDeps, notFound, runOwnChange } from './run-change.ts';

const result: z.ZodType<Attribute> = z.object({
  id: z.number(),
  name: z.string(),
  foreignKeys: z.array(z.string()),
  isRetired: z.boolean(),
});

export function postgresOwnAttributes(deps: OwnChangeDeps, quotas: Quotas = defaultQuotas): OwnAttributes {
  /** Runs a change to an existing attribute and returns the changed attribute. */
  const changeOne = (
    change: OwnChange,
    attributeId: number,
    work: (tx: Tx, partnerId: PartnerId) => Promise<boolean>,
  ): Promise<Attribute> =>
    explainUniqueViolation(attributeTaken, () =>
      runOwnChange(deps, change, { result }, async (tx) => {
        const partnerId = change.caller.partner.id;
        const isFound = await work(tx, partnerId);
        const [changed] = await selectAttributes(tx, partnerId, { retired: true, id: attributeId });
        if (!isFound || !changed) throw notFound('Attribute', attributeId);
        return changed;
      }),
    );
  return {
    create: (change, attribute) =>
      explainUniqueViolation(attributeTaken, () =>
        runOwnChange(deps, change, { result }, (tx) => {
          const partnerId = change.caller.partner.id;
          return withinQuotas(tx, partnerId, quotas, () => insertAttribute(tx, partnerId, attribute));
        }),
      ),
    rename: (change, id, name) =>
      changeOne(change, id, (tx, partnerId) => changeAttribute(tx, partnerId, id, { name })),
    retire: (change, id) =>
      changeOne(change, id, (tx, partnerId) =>
        changeAttribute(tx, partnerId, id, { retired_at: sql<Date>`coalesce(retired_at, now())` }),
      ),
    tie: (change, id, keys) =>
      changeOne(change, id, (tx, partnerId) =>
        withinQuotas(tx, partnerId, quotas, () => tieForeignKeys(tx, partnerId, id, keys)),
      ),
    untie: (change, id, keys) =>
      changeOne(change, id, async (tx) => {
        // Deletes rows of the current partner only. The API role cannot delete rows itself.
        await sql`SELECT untie_foreign_keys(${id}, ${keys}::text[])`.execute(tx);
        return true;
      }),
  };
}
