import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { RejectReason } from '@inlet/row-rule/row-rule';

export type MillionRows = {
  readonly file: Buffer;
  readonly uniqueDevices: number;
  readonly rejected: ReadonlyMap<RejectReason, { readonly rows: number; readonly firstRow: number }>;
};

const rowCount = 1_000_000;
const distinctDevices = 700_000;

/** Generates rows. One in a hundred is invalid, in one of eight ways. Also returns which rows are invalid. */
export function makeMillionRows(key: string): MillionRows {
  const badRows: readonly [RejectReason, (id: string) => string | Buffer][] = [
    ['invalid_id', (id) => `${id.slice(0, -1)},${key}`],
    ['zero_id', () => `00000000-0000-0000-0000-000000000000,${key}`],
    ['hashed_id', (id) => `${id.replaceAll('-', '')},${key}`],
    ['empty_id', () => `,${key}`],
    ['wrong_column_count', (id) => `${id},${key},surplus`],
    ['unknown_key', (id) => `${id},${key}|no-such-key`],
    ['invalid_utf8', (id) => Buffer.concat([Buffer.from(`${id},${key}`), Buffer.from([0xff, 0xfe])])],
    ['line_too_long', (id) => `${id},${`${key}|`.repeat(Math.ceil(103_000 / (key.length + 1)))}${key}`],
  ];
  const rejected = new Map<RejectReason, { rows: number; firstRow: number }>();
  const devices = new Set<string>();
  const lines: (string | Buffer)[] = [];
  for (let row = 1; row <= rowCount; row++) {
    const id = deviceId(row % distinctDevices);
    if (row % 100 !== 0) {
      devices.add(id);
      lines.push(`${id},${key}\n`);
      continue;
    }
    // A line over the limit is 100 kB long, so the file contains only a few.
    const way = row % 200_000 === 0 ? 7 : (row / 100) % 7;
    const [reason, make] = badRows[way] ?? badRows[0] ?? [];
    if (reason === undefined || make === undefined) throw new Error('no kind of invalid row');
    const { rows, firstRow } = rejected.get(reason) ?? { rows: 0, firstRow: row };
    rejected.set(reason, { rows: rows + 1, firstRow });
    lines.push(make(id), '\n');
  }
  const text = Buffer.concat(chunks(lines));
  return { file: gzipSync(text, { level: 1 }), uniqueDevices: devices.size, rejected };
}

/** Joins strings a thousand at a time, because a million small buffers are slow. */
function chunks(lines: readonly (string | Buffer)[]): Buffer[] {
  const joined: Buffer[] = [];
  let text = '';
  for (const line of lines) {
    if (typeof line === 'string') {
      text += line;
      if (text.length < 65_536) continue;
    }
    joined.push(Buffer.from(text));
    text = '';
    if (typeof line !== 'string') joined.push(line);
  }
  return [...joined, Buffer.from(text)];
}

function deviceId(n: number): string {
  const hex = createHash('md5').update(String(n)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
