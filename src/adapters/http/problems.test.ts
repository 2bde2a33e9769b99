import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Failure } from '../../domain/failure.ts';
import type { Api } from './api.ts';
import { addProblemAnswers } from './problems.ts';

const hidden = 'hunter2';
const inside = new Error(`connect to postgres://inlet:${hidden}@10.0.0.7/inlet failed`, { cause: new Error(hidden) });

describe('the response to an internal error', () => {
  const api: Api = Fastify();

  beforeAll(() => {
    addProblemAnswers(api);
    const failures: Record<string, Error> = {
      '/error': inside,
      '/status': Object.assign(new Error(hidden), { statusCode: 502 }),
      '/unavailable': Object.assign(new Error(hidden), { code: 'ECONNREFUSED' }),
      '/failure': new Failure('internal', 'The request could not be completed.', { cause: inside }),
    };
    for (const [path, failure] of Object.entries(failures)) api.get(path, () => Promise.reject(failure));
  });
  afterAll(() => api.close());

  it.each([
    ['/error', 500],
    ['/status', 500],
    ['/unavailable', 503],
    ['/failure', 500],
  ])('does not expose the cause of an internal error: %s', async (path, status) => {
    const answer = await api.inject(`${path}?key=${hidden}`);
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toMatch('application/problem+json');
    expect(answer.payload + JSON.stringify(answer.headers)).not.toMatch(/hunter2|10\.0\.0\.7|stack|node_modules/);
  });

  it('does not repeat the query string of a request for an unknown path', async () => {
    const answer = await api.inject(`/nowhere?key=${hidden}`);
    expect(answer.statusCode).toBe(404);
    expect(answer.payload).not.toContain(hidden);
  });
});
