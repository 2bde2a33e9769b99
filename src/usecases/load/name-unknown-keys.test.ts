import { describe, expect, it } from 'vitest';
import { rejectReasons } from '@inlet/row-rule/row-rule';
import { keyType } from '../../domain/import-log.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { JobError } from '../../ports/lane-store.ts';
import type { RejectedRow } from '../../ports/load-stage.ts';
import { nameKeysOfErrors, nameUnknownKeys } from './name-unknown-keys.ts';

const owner = { partnerId: 1 as PartnerId, keyType: keyType.foreignKey };
const id = '6f1c2a9e-4b7d-4c1e-9a55-0d3b8e7f1a04';

function rowWith(keys: string): RejectedRow {
  return { fileId: 7, row: 2, reason: 'unknown_key', text: Buffer.from(`${id},${keys}`) };
}

const error: JobError = {
  code: 'unknown_key',
  message: rejectReasons.unknown_key,
  file: 'a.csv',
  row: 2,
  column: 'keys',
  count: 1,
  fileId: 7,
  loadId: null,
};

describe('nameUnknownKeys', () => {
  it('does not ask PostgreSQL for keys that it cannot store', async () => {
    const asked: string[] = [];
    const attributes = {
      findKeys: async (_partner: PartnerId, _type: number, keys: readonly string[]) => {
        asked.push(...keys);
        return new Set<string>();
      },
    };
    const row = rowWith('sport\0|golf');
    const messages = await nameUnknownKeys({ attributes }, owner, [row]);
    expect(asked).toEqual(['golf']);
    expect(messages.get(row)).toContain(String.raw`"sport\x00"`);
  });
});

describe('nameKeysOfErrors', () => {
  it('keeps the messages if a server does not respond, so that the job can end', async () => {
    const logged: unknown[] = [];
    const deps = {
      attributes: { findKeys: async () => new Set<string>() },
      stage: { listRejects: () => Promise.reject(new Error('connection refused')) },
      log: { warn: (...values: unknown[]) => void logged.push(values) },
    };
    const { fileId: _fileId, loadId: _loadId, ...expected } = error;
    expect(await nameKeysOfErrors(deps, owner, [error])).toEqual([expected]);
    expect(logged).toHaveLength(1);
  });
});
