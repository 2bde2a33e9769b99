import { sql } from 'kysely';
import type { WarehouseAttribute } from '../../ports/audience-profile.ts';
import type { CompositionStore } from '../../ports/composition-store.ts';
import { runAlone } from './compositions/run-alone.ts';
import { saveComposition } from './compositions/save-composition.ts';
import { selectAudienceState } from './compositions/select-audience-state.ts';
import { selectComposition } from './compositions/select-composition.ts';
import type { Database } from './connect.ts';

export function postgresCompositionStore(db: Database): CompositionStore {
  return {
    findAudience: (scope, warehouseSegmentId) => selectAudienceState(db, scope, warehouseSegmentId),
    find: (audience, counting) => selectComposition(db, audience, counting),
    save: (audience, counting, stored) => saveComposition(db, audience, counting, stored),
    runAlone: (audience, counting, run) => runAlone(db, audience, counting, run),
    // Those of all partners, which the api cannot see in the table.
    listAttributes: async () =>
      (await sql<WarehouseAttribute>`SELECT id, partner_id AS "partnerId" FROM attributes_of_all()`.execute(db)).rows,
    nameAttributes: async (ids) => {
      if (ids.length === 0) return new Map();
      const { rows } = await sql<{ id: number; name: string }>`
        SELECT id, name FROM names_of_attributes(${ids}::bigint[])`.execute(db);
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
  };
}
