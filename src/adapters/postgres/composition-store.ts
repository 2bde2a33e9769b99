import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { AudienceScope } from '../../domain/audience.ts';
import type {
  AudienceState,
  CompositionStore,
  EntryPage,
  StoredReport,
  WantedReport,
} from '../../ports/report-store.ts';
import { inScope } from './audience-files.ts';
import { describesStoredCounts, selectCompared } from './compared-reports.ts';
import type { Database } from './db/tables.ts';

export function postgresCompositionStore(db: Database): CompositionStore {
  return {
    findAudience: (scope, warehouseSegmentId) => selectAudienceState(db, scope, warehouseSegmentId),
    findPublished: (wanted, page) => selectPublished(db, wanted, page),
    findEarlier: (wanted, page) => selectEarlier(db, wanted, page),
    compare: (wanted, comparison) => selectCompared(db, wanted, comparison),
    isCounted: async (wanted) => {
      const row = await db
        .selectFrom('composition')
        .select('audience_id')
        .where(ofGeneration(wanted))
        .executeTakeFirst();
      return row !== undefined;
    },
    request: (wanted, maxOpen) => insertRequest(db, wanted, maxOpen),
    isRequested: async (wanted) => {
      const row = await db
        .selectFrom('report_request')
        .select('audience_id')
        .where(isRequestOf(wanted))
        .where('state', '=', stateOf(wanted))
        .executeTakeFirst();
      return row !== undefined;
    },
    describeAttributes: async (ids) => {
      if (ids.length === 0) return new Map();
      const { rows } = await sql<{ id: number; name: string; provider: string }>`
        SELECT id, name, provider FROM describe_attributes(${ids}::bigint[])`.execute(db);
      return new Map(rows.map(({ id, name, provider }) => [id, { name, provider }]));
    },
  };
}

async function selectAudienceState(
  db: Database,
  scope: AudienceScope,
  warehouseSegmentId: number,
): Promise<AudienceState | null> {
  const row = await db
    .selectFrom('audience')
    .select(['id', 'partner_id', 'customer_id', 'generation', 'last_load_id'])
    .where('warehouse_segment_id', '=', warehouseSegmentId)
    .where(inScope(scope))
    .executeTakeFirst();
  return row ? toAudienceState(row) : null;
}

export function toAudienceState(row: {
  readonly id: number;
  readonly partner_id: number;
  readonly customer_id: number | null;
  readonly generation: number;
  readonly last_load_id: number | null;
}): AudienceState {
  return {
    partnerId: row.partner_id,
    customerId: row.customer_id,
    audienceId: row.id,
    generation: row.generation,
    lastLoadId: row.last_load_id ?? 0,
  };
}

export function ofState({ audience, counting }: WantedReport): RawBuilder<boolean> {
  const { audienceId, generation, lastLoadId } = audience;
  return sql<boolean>`(composition.audience_id, composition.split, composition.generation, composition.last_load_id) = (${audienceId}, ${counting}, ${generation}, ${lastLoadId})`;
}

export function isRequestOf({ audience, counting, settings }: WantedReport): RawBuilder<boolean> {
  return sql<boolean>`(audience_id, split, settings) = (${audience.audienceId}, ${counting}, ${settings})`;
}

export function ofGeneration({ audience: { audienceId, generation }, counting }: WantedReport): RawBuilder<boolean> {
  return sql<boolean>`(audience_id, split, generation) = (${audienceId}, ${counting}, ${generation})`;
}

/** Identifies the state of the audience. */
function stateOf({ audience: { generation, lastLoadId } }: Pick<WantedReport, 'audience'>): string {
  return `${generation} ${lastLoadId}`;
}

/**
 * Includes the state of the audience, because the row keeps the published report of an earlier state when the counts of
 * a later state are saved.
 */
export function publishedWith(wanted: WantedReport): string {
  return `${stateOf(wanted)} ${wanted.settings}`;
}

const entrySchema = z.object({
  attributeId: z.int(),
  value: z.string().nullable(),
  devices: z.int().nullable(),
  warehouseDevices: z.int(),
  small: z.boolean(),
  baselineDevices: z.null().default(null),
});
const publishedSchema = z.object({
  isProtected: z.boolean(),
  matchedDevices: z.int(),
  warehouseDevices: z.int(),
  baselineDevices: z.null().default(null),
  totals: z.object({ entries: z.int(), small: z.int(), hidden: z.int() }),
  entries: z.array(entrySchema),
}) satisfies z.ZodType<Omit<StoredReport, 'computedAt'>>;

/** Selects the requested entries only, because parsing all of them would delay other requests. */
function shown({ order, limit }: EntryPage): RawBuilder<unknown> {
  return sql`published - '{top,countries}'::text[] || jsonb_build_object('entries', jsonb_path_query_array(published, ${`$.top.${order}[0 to ${limit - 1}]`}::jsonpath))`;
}

async function selectPublished(db: Database, wanted: WantedReport, page: EntryPage): Promise<StoredReport | null> {
  const row = await db
    .selectFrom('composition')
    .select([shown(page).as('shown'), 'computed_at'])
    .where(ofState(wanted))
    .where('published_with', '=', publishedWith(wanted))
    .executeTakeFirst();
  return row ? { ...publishedSchema.parse(row.shown), computedAt: row.computed_at } : null;
}

async function selectEarlier(db: Database, wanted: WantedReport, page: EntryPage): Promise<StoredReport | null> {
  const row = await db
    .selectFrom('composition')
    .select([shown(page).as('shown'), 'computed_at'])
    .where(ofGeneration(wanted))
    .where(describesStoredCounts('composition', wanted.settings))
    .executeTakeFirst();
  return row ? { ...publishedSchema.parse(row.shown), computedAt: row.computed_at } : null;
}

/**
 * Inserts a request, or updates an open request to a later state. Concurrent calls can exceed the limit by a few
 * requests.
 */
async function insertRequest(db: Database, wanted: WantedReport, maxOpen: number): Promise<boolean> {
  const { audience, counting, settings } = wanted;
  const { partnerId, audienceId } = audience;
  const { rows } = await sql`
    INSERT INTO report_request AS request (audience_id, split, settings, state, partner_id)
    SELECT ${audienceId}, ${counting}, ${settings}, ${stateOf(wanted)}, ${partnerId}
    WHERE (SELECT count(*) FROM report_request WHERE partner_id = ${partnerId} AND settings = ${settings} AND NOT ${isRequestOf(wanted)}) < ${maxOpen}
    ON CONFLICT (audience_id, split, settings) DO UPDATE
    SET retry_at = CASE WHEN request.state = excluded.state THEN request.retry_at ELSE now() END,
        requested_at = CASE WHEN request.state = excluded.state THEN request.requested_at ELSE now() END,
        state = excluded.state
    RETURNING state`.execute(db);
  return rows.length > 0;
}
