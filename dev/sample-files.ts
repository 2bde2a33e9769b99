import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export const demoAttributes = ['sports', 'travel', 'music'] as const;

const rowsPerPart = 100_000;
const parts = 3;

/** Three gzipped parts of one delivery, a small file with invalid rows, and two audience files. */
export function sampleFiles(): { path: string; body: Uint8Array }[] {
  const delivery = Array.from({ length: parts }, (_, part) => ({
    path: `delivery/part-${part}.csv.gz`,
    body: gzipSync(
      ['id,keys', ...Array.from({ length: rowsPerPart }, (_row, n) => row(part * rowsPerPart + n))].join('\n'),
    ),
  }));
  const bad = [
    row(1),
    'not-an-id,sports',
    '00000000-0000-0000-0000-000000000000,sports',
    `${deviceId(2)},golf`,
    row(3),
  ];
  const audience = [1, 2].map((file) => ({
    path: `acme/summer/${file}.csv`,
    body: Buffer.from(['id,event', ...Array.from({ length: 1000 }, (_, n) => member(file * 500 + n))].join('\n')),
  }));
  return [...delivery, { path: 'with-bad-rows.csv', body: Buffer.from(bad.join('\n')) }, ...audience];
}

/** Every third device is missing from the imports. */
function member(n: number): string {
  return `${deviceId(n % 3 === 0 ? -n : n)},${n % 2 === 0 ? 'click' : ''}`;
}

function row(n: number): string {
  const first = demoAttributes[n % demoAttributes.length] ?? 'sports';
  return n % 5 === 0 ? `${deviceId(n)},${first}|music` : `${deviceId(n)},${first}`;
}

/** Device IDs are deterministic, so that every run creates the same devices. */
function deviceId(n: number): string {
  const hex = createHash('md5').update(String(n)).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
