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
    listAttributes: () => db.selectFrom('attribute').select(['id', 'partner_id as partnerId']).orderBy('id').execute(),
    nameAttributes: async (ids) => {
      if (ids.length === 0) return new Map();
      const rows = await db.selectFrom('attribute').select(['id', 'name']).where('id', 'in', ids).execute();
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
  };
}
