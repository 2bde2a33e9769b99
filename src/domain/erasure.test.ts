import { describe, expect, it } from 'vitest';
import { Failure } from './failure.ts';
import {
  addErased,
  erasedByPartner,
  erasureSteps,
  failureOfSource,
  isListLost,
  listsToDrop,
  maxIdFileBytes,
  maxIdsPerFile,
  maxOpenBatches,
  nextBatch,
  requireListLength,
  requireListSize,
  textOfIds,
  proofOf,
  stepAfterCount,
  stepAfterLoads,
  toErasedId,
  waitSeconds,
  toErasedIds,
} from './erasure.ts';

const id = 'a3f1c2d4-5678-90ab-cdef-1234567890ab';
const at = new Date('2026-11-15T01:14:02Z');
const batch = {
  batchId: 3,
  startedAt: at,
  erasedAt: at,
  finishedAt: at,
  erased: [
    { table: 'device_attributes', shard: 1, partnerId: 7, rows: 4 },
    { table: 'device_attributes', shard: 1, partnerId: 8, rows: 2 },
    { table: 'known_devices', shard: 1, partnerId: 0, rows: 1 },
  ],
  remaining: [{ table: 'device_attributes', shard: 1, replica: 1, rows: 0 }],
};
const request = { id: 5, ids: 1, invalidLines: 0, idsSalt: 's', idsDigest: 'x', requestedAt: at };

describe('the IDs in an erasure', () => {
  it.each([id, id.toUpperCase(), id.replaceAll('-', ''), ` ${id}\r`])('accepts %j', (text) => {
    expect(toErasedId(text)).toBe(id);
  });

  it.each(['', 'not-an-id', `${id}0`, '00000000-0000-0000-0000-000000000000', '0'.repeat(32)])('rejects %j', (text) => {
    expect(toErasedId(text)).toBeNull();
  });

  it('are sorted and distinct', () => {
    const other = '0'.repeat(31) + '1';
    expect(toErasedIds([id, other, id.toUpperCase()])).toEqual(['00000000-0000-0000-0000-000000000001', id]);
  });

  it('cause an error that names the field of an invalid ID', () => {
    expect(() => toErasedIds([id, 'x'])).toThrow(Failure);
  });

  it('are written like a file with one ID per line', () => {
    expect(textOfIds([id])).toBe(`${id}\n`);
  });
});

describe('the proof of an erasure', () => {
  it("contains only the partner's own counts", () => {
    const { proof } = proofOf(batch, { ...request, partnerId: 7 }, () => '');
    expect(proof).toMatchObject({ scope: 'partner', ids_salt: 's', ids_sha256: 'x' });
    expect(proof.erased).toEqual([{ table: 'device_attributes', shard: 1, rows_erased: 4 }]);
  });

  it('of an operator contains the counts of all partners', () => {
    const { proof, csv } = proofOf(batch, { ...request, partnerId: null }, () => '');
    expect(proof.erased).toEqual([
      { table: 'device_attributes', shard: 1, rows_erased: 6 },
      { table: 'known_devices', shard: 1, rows_erased: 1 },
    ]);
    expect(csv).toBe(
      'table,shard,replica,rows_erased,rows_remaining\r\ndevice_attributes,1,,6,\r\nknown_devices,1,,1,\r\ndevice_attributes,1,1,,0\r\n',
    );
  });
});

describe('the lists of erasures', () => {
  it('are kept while their batch is open', () => {
    expect(listsToDrop([1, 2, 2, 3], [2, 3], null)).toEqual([1]);
  });

  it('are dropped when their batch no longer needs them', () => {
    expect(listsToDrop([2, 3], [2, 3], 3)).toEqual([3]);
  });
});

describe('a request that cannot be listed', () => {
  it.each([
    [[0, 0], true],
    [[2, 0], true],
    [[2, 1], true],
    [[2, 2], false],
    [[2], false],
  ])('is detected from the number of IDs on each shard: %j', (ids, isLost) => {
    expect(isListLost(ids)).toBe(isLost);
  });

  it('fails instead of delaying other requests', () => {
    expect(failureOfSource({ kind: 'unreadable' }, false)?.isFinal).toBe(true);
    expect(failureOfSource({ kind: 'received' }, true)?.isFinal).toBe(true);
  });

  it('is listed again if its IDs are still known', () => {
    expect(failureOfSource({ kind: 'received' }, false)).toBeNull();
    expect(failureOfSource({ kind: 'ids', ids: [id] }, true)).toBeNull();
    expect(failureOfSource({ kind: 'file', key: 'a' }, true)).toBeNull();
  });
});

describe('the length of a list', () => {
  it('is limited to a number of IDs and a number of bytes', () => {
    expect(() => requireListLength(0)).toThrow('no device ID');
    expect(() => requireListLength(maxIdsPerFile)).not.toThrow();
    expect(() => requireListLength(maxIdsPerFile + 1)).toThrow('Split it');
    expect(() => requireListSize(maxIdFileBytes)).not.toThrow();
    expect(() => requireListSize(maxIdFileBytes + 1)).toThrow('Split it');
  });
});

describe('the next batch', () => {
  const running = { id: 1, isDue: false, waitsFor: null };
  const loading = { id: 2, isDue: false, waitsFor: 'loads' } as const;
  const cleaning = { id: 3, isDue: false, waitsFor: 'replaced_parts' } as const;
  it.each([
    ['starts if none is open', [], 'new'],
    ['is none while a worker runs one', [running, { ...loading, isDue: true }], null],
    ['is the first one that is due', [loading, { ...cleaning, isDue: true }, { ...loading, id: 4, isDue: true }], 3],
    ['is continued after its worker has died', [{ ...running, isDue: true }], 1],
    ['starts while all others wait for loads', [loading, { ...loading, id: 4 }], 'new'],
    ['does not start while one waits for files', [loading, cleaning], null],
    ['does not start above the limit', Array.from({ length: maxOpenBatches }, () => loading), null],
  ] as const)('%s', (_title, open, expected) => {
    expect(nextBatch(open)).toBe(expected);
  });
});

it('waits longer for files than for loads', () => {
  expect(waitSeconds.replaced_parts).toBeGreaterThan(waitSeconds.loads);
  expect(waitSeconds.detached_parts).toBeGreaterThan(waitSeconds.replaced_parts);
});

describe('the loads of an erasure', () => {
  it.each([
    ['wait', 'count'],
    ['settle', 'index'],
  ] as const)('are published before %s ends', (step, next) => {
    expect(stepAfterLoads(step, { open: 1, staged: 0 })).toBeNull();
    expect(stepAfterLoads(step, { open: 0, staged: 1 })).toBeNull();
    expect(stepAfterLoads(step, { open: 0, staged: 0 })).toBe(next);
  });

  it('are waited for again between the mutation and the update of the device index', () => {
    const [erase, settle, index] = erasureSteps.slice(erasureSteps.indexOf('erase'));
    expect([erase, settle, index]).toEqual(['erase', 'settle', 'index']);
  });
});

describe('the rounds of an erasure', () => {
  it('record the number of device rows for each partner', () => {
    const rejects = { table: 'load_rejects', shard: 1, partnerId: 8, rows: 5 };
    const audiences = { table: 'audience_devices', shard: 2, partnerId: 7, rows: 3 };
    expect(erasedByPartner([...batch.erased, rejects, audiences])).toEqual([
      { partnerId: 7, rows: 7 },
      { partnerId: 8, rows: 2 },
    ]);
  });

  it('add up', () => {
    const rows = { table: 'device_attributes', shard: 1, partnerId: 7 };
    expect(addErased([{ ...rows, rows: 4 }], [{ ...rows, rows: 1 }])).toEqual([{ ...rows, rows: 5 }]);
  });

  it('continue until no replica has a row', () => {
    const zero = { table: 'device_attributes', shard: 1, replica: 1, rows: 0 };
    expect(stepAfterCount([zero])).toBe('clean');
    expect(stepAfterCount([zero, { ...zero, replica: 2, rows: 1 }])).toBe('count');
  });
});
