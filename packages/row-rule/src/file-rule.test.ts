import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LoadCounts,
  defaultFileLimits,
  faultOfCompression,
  faultOfRows,
  faultOfSize,
  hasGzipName,
  rowsOf,
  sniffLayout,
} from './file-rule.ts';
import { audienceShapes, fiveColumns, marketplaceShapes, memberColumns, twoColumns } from './row-rule.ts';

describe('faultOfRows', () => {
  it.each([
    { accepted: 1, rejected: 0, share: 0 },
    { accepted: 1, rejected: 99, share: 1 },
    { accepted: 99, rejected: 1, share: 0.01 },
  ])(
    'accepts a file with $accepted valid and $rejected rejected rows if the allowed share is $share',
    ({ share, ...rows }) => {
      expect(faultOfRows({ ...rows, optOuts: 0 }, share)).toBeNull();
    },
  );

  it.each([
    { accepted: 99, rejected: 1, share: 0, detail: '1 of 100 rows was rejected; the limit for your account is 0.' },
    {
      accepted: 98,
      rejected: 2,
      share: 0.01,
      detail: '2 of 100 rows were rejected; the limit for your account is 1%.',
    },
  ])('fails a file with too many rejected rows: $detail', ({ share, detail, ...rows }) => {
    expect(faultOfRows({ ...rows, optOuts: 0 }, share)).toEqual({ code: 'bad_rows', detail });
  });

  it.each([0, 1])('fails a file without a valid row if the allowed share is %s', (share) => {
    expect(faultOfRows({ accepted: 0, rejected: 3, optOuts: 0 }, share)).toEqual({
      code: 'no_good_row',
      detail: 'All 3 rows were rejected.',
    });
  });

  it.each([0, 1])('fails a file without rows if the allowed share is %s', (share) => {
    expect(faultOfRows({ accepted: 0, rejected: 0, optOuts: 0 }, share)).toMatchObject({ code: 'empty_file' });
  });
});

describe('all-zero IDs', () => {
  const counts: LoadCounts = {
    accepted: 0,
    rejects: [
      { reason: 'zero_id', rows: 5, firstRow: 1 },
      { reason: 'invalid_id', rows: 1, firstRow: 9 },
    ],
  };
  const zeroIdsOnly = { accepted: 0, rejects: counts.rejects.slice(0, 1) };

  it('never cause an audience file to fail', () => {
    expect(faultOfRows(rowsOf(zeroIdsOnly, true), 0)).toBeNull();
    expect(faultOfRows(rowsOf({ ...zeroIdsOnly, accepted: 1 }, true), 0)).toBeNull();
  });

  it('do not hide other rejected rows in an audience file', () => {
    expect(faultOfRows(rowsOf({ ...counts, accepted: 4 }, true), 0)).toMatchObject({
      code: 'bad_rows',
      detail: '1 of 10 rows was rejected; the limit for your account is 0.',
    });
  });

  it('count as rejected rows in an import', () => {
    expect(faultOfRows(rowsOf(zeroIdsOnly, false), 1)).toMatchObject({ code: 'no_good_row' });
  });
});

describe('declared compression', () => {
  it.each([true, false])('accepts declared compression that matches the content (gzip: %s)', (gzip) => {
    expect(faultOfCompression(gzip, gzip)).toBeNull();
    expect(faultOfCompression(null, gzip)).toBeNull();
  });

  it.each([
    [true, 'The file is not gzip, but "compressed" is true, or it is not set and the file name ends in .gz.'],
    [false, 'The file is gzip, but "compressed" is false, or it is not set and the file name does not end in .gz.'],
  ])('rejects declared compression that differs from the content (declared as gzip: %s)', (expected, detail) => {
    expect(faultOfCompression(expected, !expected)).toEqual({ code: 'compression_mismatch', detail });
  });

  it('derives the declared compression from the file extension, ignoring case', () => {
    expect(['a.csv.gz', 'A.CSV.GZ', 'a.csv', 'gz', 'a.gz.csv'].map(hasGzipName)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('faultOfSize', () => {
  it.each([
    { size: 5_000_000_000, isGzip: true, code: undefined },
    { size: 5_000_000_001, isGzip: true, code: 'file_too_large' },
    { size: 50_000_000_000, isGzip: false, code: undefined },
    { size: 50_000_000_001, isGzip: false, code: 'file_too_large' },
  ])('returns $code for $size bytes (gzip: $isGzip)', ({ size, isGzip, code }) => {
    expect(faultOfSize(size, isGzip, defaultFileLimits)?.code).toBe(code);
  });
});

function layoutOf(head: string, shapes = marketplaceShapes): unknown {
  return sniffLayout(Buffer.from(head), shapes).layout;
}

function codeOf(head: Uint8Array, shapes = marketplaceShapes): string | undefined {
  return sniffLayout(head, shapes).fault?.code;
}

const id = 'c0ffee00-0000-4000-8000-000000000001';

describe('layout detection', () => {
  it.each([
    { head: `${id},sport\n`, delimiter: ',', headerRow: null },
    { head: `${id}\tsport\n`, delimiter: '\t', headerRow: null },
    { head: `${id},sport`, delimiter: ',', headerRow: null },
    { head: `${id},sport\r\n`, delimiter: ',', headerRow: null },
    { head: `${id},a\tb\n`, delimiter: ',', headerRow: null },
    { head: `${id}\ta,b\n`, delimiter: '\t', headerRow: null },
    { head: `${id}\n${id}\tsport\n`, delimiter: '\t', headerRow: null },
    { head: `a,b,c\n${id}\tsport\n`, delimiter: '\t', headerRow: null },
    { head: `"broken,x\n${id},sport\n`, delimiter: ',', headerRow: null },
    { head: `"a,b"\tsport\n`, delimiter: '\t', headerRow: null },
    { head: 'id,keys\n', delimiter: ',', headerRow: 1 },
    { head: 'id\tkeys\n', delimiter: '\t', headerRow: 1 },
    { head: 'id,keys\r\n', delimiter: ',', headerRow: 1 },
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
  ])('finds delimiter $delimiter and header row $headerRow in $head', ({ head, delimiter, headerRow }) => {
    expect(layoutOf(head)).toEqual({ delimiter, columns: twoColumns, headerRow });
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
  ])('recognizes a header whose first field is %s', (name) => {
    expect(layoutOf(`${name},keys\n${id},sport\n`)).toMatchObject({ headerRow: 1 });
  });

  it.each([
    { head: `${id},1,DE,0,sport\n`, delimiter: ',', headerRow: null },
    { head: `${id}\t1\t\t0\tsport|news\n`, delimiter: '\t', headerRow: null },
    { head: 'id,id_type,country,operation,keys\r\n', delimiter: ',', headerRow: 1 },
    { head: `one,two,three\n${id},3,,1,"a,b"\n`, delimiter: ',', headerRow: null },
  ])('finds five columns in $head', ({ head, delimiter, headerRow }) => {
    expect(layoutOf(head)).toEqual({ delimiter, columns: fiveColumns, headerRow });
  });

  it.each([
    { what: 'an unknown name above rows', head: `Device,Topics\n${id},sport\n`, headerRow: 1 },
    { what: 'an unknown name above a blank line and rows', head: `\nDevice,Topics\n\n${id},sport\n`, headerRow: 2 },
    {
      what: 'an unknown name above a malformed row',
      head: `Device,Topics\n${id},sport\nnonsense,sport\n`,
      headerRow: null,
    },
    { what: 'an unknown name without rows', head: 'Device,Topics\n', headerRow: null },
    { what: 'a hashed ID above rows', head: `${'a'.repeat(32)},sport\n${id},sport\n`, headerRow: null },
    {
      what: 'an ID with a wrong letter above rows',
      head: `${id.replace('f', 'O')},sport\n${id},sport\n`,
      headerRow: null,
    },
    { what: 'an email address above rows', head: `user@example.com,sport\n${id},sport\n`, headerRow: null },
    { what: 'null above rows', head: `NULL,sport\n${id},sport\n`, headerRow: null },
    { what: 'an empty field above rows', head: `,sport\n${id},sport\n`, headerRow: null },
    { what: 'a known name with more columns than the rows', head: `id,keys,event\n${id},sport\n`, headerRow: null },
  ])('finds header row $headerRow for $what', ({ head, headerRow }) => {
    expect(layoutOf(head)).toMatchObject({ columns: twoColumns, headerRow });
  });

  it.each(['id\n', '{"a": 1}\n', `${id};sport\n`, '1,2,3\n1,2,3,4\n'])('rejects a file that starts with %s', (head) => {
    expect(codeOf(Buffer.from(head))).toBe('wrong_shape');
  });

  it.each(['utf16le', 'utf-16be'])('rejects a file with a %s byte-order mark', (encoding) => {
    const text = Buffer.from(`\uFEFF${id},sport\n`, 'utf16le');
    const head = encoding === 'utf16le' ? text : text.swap16();
    expect(codeOf(head)).toBe('wrong_encoding');
  });

  it('returns a layout or a fault for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (head) => {
        const { layout, fault } = sniffLayout(head, marketplaceShapes);
        expect(layout?.delimiter ?? fault?.code).toMatch(/^(,|\t|wrong_shape|wrong_encoding)$/);
      }),
    );
  });

  it.each([
    { head: `${id},\n`, headerRow: null },
    { head: `id,event\n${id},click\n`, headerRow: 1 },
    { head: `1,2,3,4,5\n${id},click\n`, headerRow: null },
  ])('finds the two columns of an audience file in $head', ({ head, headerRow }) => {
    expect(layoutOf(head, audienceShapes)).toEqual({
      delimiter: ',',
      columns: memberColumns,
      headerRow,
    });
  });

  it.each([
    { head: `${id}\n`, detail: 'Line 1 has 1 column; 2 are expected, separated by commas or tabs.' },
    { head: `${id},1,DE,0,sport\n`, detail: 'Line 1 has 5 comma-separated columns; 2 are expected.' },
    { head: `\n${id}\t1\tDE\n`, detail: 'Line 2 has 3 tab-separated columns; 2 are expected.' },
    { head: `"${id},click\n`, detail: 'The quotes in line 1 are not balanced; 2 columns are expected.' },
  ])('rejects an audience file that starts with $head', ({ head, detail }) => {
    expect(sniffLayout(Buffer.from(head), audienceShapes).fault?.detail).toBe(detail);
  });

  it('mentions both column counts that an import file can have', () => {
    const { fault } = sniffLayout(Buffer.from('1,2,3\n'), marketplaceShapes);
    expect(fault?.detail).toBe('Line 1 has 3 comma-separated columns; 2 or 5 are expected.');
  });
});
