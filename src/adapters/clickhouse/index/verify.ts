import type { Generation } from '../../../ports/warehouse.ts';
import { isStandIn, standInScope } from '../stand-in-sql.ts';
import { chunkSize } from './device-numbers.ts';
import type { Session } from './session.ts';

/** Maximum number of differences that each comparison lists. */
const maxDifferences = 10;

const cell = 'partner_id, attribute_id, country, id_type';
const generation = 'partner_id, audience_id, generation';

/**
 * Compares, for each key, the count in the bitmaps with the count in the rows. Both subqueries select the key,
 * `indexed`, and `stored`.
 */
function compareSql(key: string, indexed: string, stored: string): string {
  return `SELECT ${key}, toString(bitmaps) AS indexed, toString(rows) AS stored FROM (
      SELECT ${key}, sum(indexed) AS bitmaps, sum(stored) AS rows FROM (${indexed} UNION ALL ${stored}) GROUP BY ${key}
    ) WHERE bitmaps != rows ORDER BY ${key} LIMIT ${maxDifferences}`;
}

type Comparison = { readonly of: string; readonly query: string };

const comparisons: readonly Comparison[] = [
  {
    of: 'attribute',
    query: compareSql(
      cell,
      `SELECT ${cell}, bitmapCardinality(devices) AS indexed, toUInt64(0) AS stored FROM attribute_bitmaps_local FINAL WHERE partner_id > 0`,
      `SELECT ${cell}, toUInt64(0), toUInt64(1) FROM device_attributes_local FINAL WHERE NOT ${isStandIn(standInScope.attribute())}`,
    ),
  },
  {
    of: 'known devices',
    query: compareSql(
      'one',
      `SELECT 1 AS one, bitmapCardinality(devices) AS indexed, toUInt64(0) AS stored FROM attribute_bitmaps_local FINAL WHERE partner_id = 0`,
      `SELECT 1, toUInt64(0), toUInt64(1) FROM known_devices_local FINAL WHERE NOT ${isStandIn(standInScope.known)}`,
    ),
  },
  {
    of: 'numbers',
    query: `SELECT toString(uniqExact(device)) AS indexed, toString(uniqExact(number)) AS stored FROM device_numbers_local
      HAVING count() != uniqExact(device) OR count() != uniqExact(number)`,
  },
];

const wrongChunksSql = `
  SELECT chunk FROM full_chunks_local FINAL
  WHERE bitmapCardinality(devices) != ${chunkSize} OR bitmapMin(devices) != toUInt64(chunk) * ${chunkSize}
  LIMIT ${maxDifferences}`;

/** Maximum number of audiences per statement. The list is part of the statement text. */
const audiencesAtATime = 10_000;

function compareAudiences(audiences: readonly Generation[]): Comparison {
  const list = (ids: readonly number[]): string => `[${ids.map(Number).join()}]::Array(UInt64)`;
  const isListed = `(${generation}) IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(arrayZip(
    ${list(audiences.map(({ partnerId }) => partnerId))}, ${list(audiences.map(({ audienceId }) => audienceId))},
    ${list(audiences.map((audience) => audience.generation))})) AS one))`;
  return {
    of: 'audience',
    query: compareSql(
      generation,
      `SELECT ${generation}, bitmapCardinality(devices) AS indexed, toUInt64(0) AS stored FROM audience_bitmaps_local FINAL
       WHERE kind = 0 AND ${isListed}`,
      `SELECT ${generation}, toUInt64(0), toUInt64(1) FROM (
         SELECT ${generation}, device FROM audience_devices_local WHERE ${isListed} AND NOT ${isStandIn(standInScope.audience())}
         ORDER BY ${generation}, device LIMIT 1 BY ${generation}, device
       )`,
    ),
  };
}

/** Returns one sentence per difference between the index and the rows on a shard. */
export async function verifyShard(
  session: Session,
  shard: number,
  audiences: readonly Generation[],
): Promise<string[]> {
  const found: string[] = [];
  const ofAudiences = Array.from({ length: Math.ceil(audiences.length / audiencesAtATime) }, (_, page) =>
    compareAudiences(audiences.slice(page * audiencesAtATime, (page + 1) * audiencesAtATime)),
  );
  for (const { of, query } of [...comparisons, ...ofAudiences]) {
    const rows = await session.rows<Record<string, string | number>>(query, {
      settings: { max_query_size: '4194304' },
    });
    for (const { indexed, stored, one: _, ...key } of rows) {
      const where = Object.entries(key).map(([name, value]) => `${name} ${value}`);
      found.push(
        `shard ${shard}, ${[of, ...where].join(', ')}: ${indexed} devices are indexed, but ${stored} are stored.`,
      );
    }
  }
  const chunks = await session.rows<{ chunk: number }>(wrongChunksSql);
  for (const { chunk } of chunks)
    found.push(`shard ${shard}, chunk ${chunk}: the bitmap of all numbers is wrong. Run inlet index rebuild.`);
  return found;
}
