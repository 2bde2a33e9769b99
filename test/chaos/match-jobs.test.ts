import { describe, expect, it } from 'vitest';
import { match, type JobRow } from './match-jobs.ts';
import type { Request } from './record.ts';

const deletion = (answer: Request['answer']): Request => ({
  folder: '',
  what: { kind: 'delete', attributes: [7, 8] },
  answer,
});
const none = { folder: '', audience_id: null, audience: null, generation: null, current: null };
const job = (id: number): JobRow => ({ id, kind: 'delete', keys: ['7', '8'], ...none });

describe('which request a job is of', () => {
  it('is the one that was answered with its id, though one before asked for the same and was not answered', () => {
    const requests = [deletion(null), deletion({ jobId: 1 }), deletion(null), deletion({ jobId: 3 })];
    const { requestOf, wrong } = match({ partnerId: 5, requests }, [job(1), job(3)]);
    expect(wrong).toEqual([]);
    expect([requestOf.get(1), requestOf.get(3)]).toEqual([requests[1], requests[3]]);
  });

  it('is one that was not answered when no other is left, and none asked for more', () => {
    const requests = [deletion(null), deletion({ jobId: 2 })];
    expect(match({ partnerId: 5, requests }, [job(1), job(2)]).wrong).toEqual([]);
    expect(match({ partnerId: 5, requests }, [job(1), job(2), job(3)]).wrong).toHaveLength(1);
  });

  it('misses one that was answered', () => {
    const requests = [deletion({ jobId: 1 })];
    expect(match({ partnerId: 5, requests }, []).wrong).toEqual(['partner 5: delete  was accepted and is lost']);
  });
});
