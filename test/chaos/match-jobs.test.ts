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

describe('match', () => {
  it('prefers the request whose response contains the job ID over an equal, earlier request without a response', () => {
    const requests = [deletion(null), deletion({ jobId: 1 }), deletion(null), deletion({ jobId: 3 })];
    const { requestOf, wrong } = match({ partnerId: 5, requests }, [job(1), job(3)]);
    expect(wrong).toEqual([]);
    expect([requestOf.get(1), requestOf.get(3)]).toEqual([requests[1], requests[3]]);
  });

  it('assigns a job to a request without a response if no other request is left, and reports extra jobs', () => {
    const requests = [deletion(null), deletion({ jobId: 2 })];
    expect(match({ partnerId: 5, requests }, [job(1), job(2)]).wrong).toEqual([]);
    expect(match({ partnerId: 5, requests }, [job(1), job(2), job(3)]).wrong).toHaveLength(1);
  });

  it('reports a confirmed request without a job', () => {
    const requests = [deletion({ jobId: 1 })];
    expect(match({ partnerId: 5, requests }, []).wrong).toEqual(['partner 5: delete  was accepted but is lost']);
  });
});
