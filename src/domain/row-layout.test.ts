import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sniffLayout, twoColumns } from './row-layout.ts';

const id = 'c0ffee00-0000-4000-8000-000000000001';

describe('the layout of a file', () => {
  it.each([
    { head: `${id},sport\n`, delimiter: ',', headerRow: null },
    { head: `${id}\tsport\n`, delimiter: '\t', headerRow: null },
    { head: `${id},sport`, delimiter: ',', headerRow: null },
    { head: `${id},sport\r\n`, delimiter: ',', headerRow: null },
    { head: `${id},a\tb\n`, delimiter: ',', headerRow: null },
    { head: `${id}\ta,b\n`, delimiter: '\t', headerRow: null },
    { head: `${id}\n${id}\tsport\n`, delimiter: ',', headerRow: null },
    { head: 'id,keys\n', delimiter: ',', headerRow: 1 },
    { head: 'id\tkeys\n', delimiter: '\t', headerRow: 1 },
    { head: 'id,keys\r\n', delimiter: ',', headerRow: 1 },
    { head: 'id\r\n', delimiter: ',', headerRow: 1 },
    { head: 'id', delimiter: ',', headerRow: 1 },
    { head: '"id","keys"\n', delimiter: ',', headerRow: 1 },
    { head: '"id"\t"keys"\r\n', delimiter: '\t', headerRow: 1 },
    { head: ' ID ,keys\n', delimiter: ',', headerRow: 1 },
    { head: '\uFEFFid,keys\n', delimiter: ',', headerRow: 1 },
    { head: '\uFEFF"id",keys\n', delimiter: ',', headerRow: 1 },
    { head: `\uFEFF${id}\tsport\n`, delimiter: '\t', headerRow: null },
    { head: '\n\nid,keys\n', delimiter: ',', headerRow: 3 },
    { head: '\r\n\r\nid\tkeys\r\n', delimiter: '\t', headerRow: 3 },
    { head: '\uFEFF\r\nid,keys\r\n', delimiter: ',', headerRow: 2 },
    { head: `\n${id}\tsport\n`, delimiter: '\t', headerRow: null },
    { head: 'identity,keys\n', delimiter: ',', headerRow: null },
    { head: 'keys,id\n', delimiter: ',', headerRow: null },
    { head: `${id},sport\nid,keys\n`, delimiter: ',', headerRow: null },
    { head: '', delimiter: ',', headerRow: null },
    { head: '\n', delimiter: ',', headerRow: null },
    { head: '\uFEFF', delimiter: ',', headerRow: null },
    { head: '\r\n\n\r\n', delimiter: ',', headerRow: null },
  ])('of $head has the delimiter $delimiter and its header in row $headerRow', ({ head, delimiter, headerRow }) => {
    expect(sniffLayout(Buffer.from(head))).toEqual({ delimiter, columns: twoColumns, headerRow });
  });

  it.each([
    'id',
    'device_id',
    'deviceId',
    'advertising_id',
    'mobile_advertising_id',
    'MAID',
    'IFA',
    'IDFA',
    'AAID',
    'GAID',
    'ADID',
  ])('has a header when the first field is %s', (name) => {
    expect(sniffLayout(Buffer.from(`${name},keys\n${id},sport\n`)).headerRow).toBe(1);
  });

  it('is read off any bytes, also those of no text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (head) => {
        expect([',', '\t']).toContain(sniffLayout(head).delimiter);
      }),
    );
  });
});
