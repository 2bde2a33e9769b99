import { type TestStores, withDatabase } from '../support/stores.ts';

/** A job or an entry in an audience's file list. If it has ended, an event must have reported it. */
type RecordRow = {
  readonly name: string;
  readonly status: number;
  /** False if its audience was cleared or deleted, because it may then have ended without an event. */
  readonly is_required: boolean;
};
type EventRow = {
  readonly sequence: string;
  readonly type: string;
  readonly name: string | null;
  readonly status: string | null;
};

/**
 * Compares a partner's event log with its records. The sequence numbers must have no gaps, and there must be exactly
 * one event for the end of each job and of each file in an audience.
 */
export async function auditEvents(stores: TestStores, partnerId: number): Promise<string[]> {
  const { events, counted, records } = await withDatabase(stores, async (client) => ({
    events: (await client.query<EventRow>(eventsOfPartner, [partnerId])).rows,
    counted: (
      await client.query<{ last: string }>('SELECT last_sequence AS last FROM event_counter WHERE partner_id = $1', [
        partnerId,
      ])
    ).rows[0],
    records: (await client.query<RecordRow>(recordsOfPartner, [partnerId])).rows,
  }));
  const wrong = events.flatMap(({ sequence, type }, index) =>
    Number(sequence) === index + 1
      ? []
      : [`partner ${partnerId}: ${type} has the sequence ${sequence}, not ${index + 1}`],
  );
  if (Number(counted?.last ?? 0) !== events.length)
    wrong.push(`partner ${partnerId}: ${events.length} events, and the counter is ${counted?.last}`);
  const statuses = new Map<string, string[]>();
  for (const { name, status } of events)
    if (name !== null) statuses.set(name, [...(statuses.get(name) ?? []), status ?? '']);
  const known = new Set(records.map(({ name }) => name));
  for (const { name, status, is_required } of records) {
    const reported = statuses.get(name) ?? [];
    const isRight = reported.length === 0 ? status < 2 || !is_required : String(reported) === String(status);
    if (!isRight) wrong.push(`partner ${partnerId}, ${name}: status ${status}, reported as [${reported.join()}]`);
  }
  for (const name of statuses.keys())
    if (!known.has(name)) wrong.push(`partner ${partnerId}, ${name}: reported and not stored`);
  return wrong;
}

const eventsOfPartner = `
  SELECT sequence, type,
    CASE WHEN type ~ '^(import|delete)\\.(finished|failed)$' THEN 'job ' || (data->>'importLogId')
      WHEN type = 'audience.file.finished' THEN 'file ' || (data->>'fileId') END AS name,
    CASE WHEN type = 'audience.file.finished' THEN data->>'status' WHEN type ~ 'failed$' THEN '3' ELSE '2' END AS status
  FROM event WHERE partner_id = $1 ORDER BY event.sequence`;

const recordsOfPartner = `
  SELECT 'job ' || id AS name, status, true AS is_required FROM job WHERE partner_id = $1 AND kind <> 'audience'
  UNION ALL
  SELECT 'file ' || f.id, f.status, f.generation = a.generation
  FROM job_file f JOIN audience a ON a.id = f.audience_id WHERE f.partner_id = $1
  UNION ALL
  SELECT 'file path-' || j.id, j.status, l.generation = a.generation
  FROM audience_load l JOIN job j ON j.id = l.job_id JOIN audience a ON a.id = l.audience_id
  WHERE l.partner_id = $1 AND j.listed_at IS NULL`;
