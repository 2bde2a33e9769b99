import type { RejectReason } from '@inlet/row-rule/row-rule';
import { device } from './device-id.ts';

export const goodKey = 'crm-sport';
export const retiredKey = 'crm-retired';

const badLines: readonly [RejectReason, (id: string) => string | Buffer][] = [
  ['invalid_id', (id) => `${id.slice(0, -1)},${goodKey}`],
  ['zero_id', () => `00000000-0000-0000-0000-000000000000,${goodKey}`],
  ['hashed_id', (id) => `${id.replaceAll('-', '')},${goodKey}`],
  ['wrong_column_count', (id) => `${id},"a ""quoted"" key",=1+1`],
  ['unknown_key', (id) => `${id},${goodKey}|no-such-key`],
  ['invalid_utf8', (id) => Buffer.concat([Buffer.from(`${id},${goodKey}`), Buffer.from([0xff, 0xfe])])],
  ['retired_key', (id) => `${id},${retiredKey}`],
  ['empty_keys', (id) => `${id},`],
];

/** The reason that a generated row is invalid. Undefined for a valid row. */
export function plantedReason(row: number): RejectReason | undefined {
  return plantedIn(row)?.[0];
}

function plantedIn(row: number): (typeof badLines)[number] | undefined {
  return row % 10 === 0 ? badLines[(row / 10) % badLines.length] : undefined;
}

/** Generates rows in pieces. One in ten is invalid, in one of eight ways. */
export function* rowsWithBadOnes(rows: number): Generator<Buffer> {
  let pieces: (string | Buffer)[] = [];
  const joined = (): Buffer =>
    Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
  let text = '';
  for (let row = 1; row <= rows; row += 1) {
    const [, makeLine] = plantedIn(row) ?? [];
    const line = makeLine ? makeLine(device(row)) : `${device(row)},${goodKey}`;
    if (typeof line === 'string') text += `${line}\n`;
    else {
      pieces.push(text, line);
      text = '\n';
    }
    if (row % 10_000 !== 0) continue;
    pieces.push(text);
    yield joined();
    [pieces, text] = [[], ''];
  }
  pieces.push(text);
  yield joined();
}
