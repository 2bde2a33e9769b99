import { createdAudienceSchema } from '../../src/adapters/http/records/audience.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import { readProblem } from './api-client.ts';
import { audiencePath } from './audience-client.ts';

const nothing = 'nothing.csv';

describe('creating an audience', () => {
  let market: Audiences;
  let existing: number;

  beforeAll(async () => {
    market = await joinAudiences();
    await market.partner.upload('made/a.csv', rows(0, 3));
    existing = (await market.audiences.create('existing', nothing)).audienceId;
  });
  afterAll(() => market.stop());

  const post = (body: unknown): Promise<Response> =>
    market.audiences.request(audiencePath, { method: 'POST', body: JSON.stringify(body) });

  it('returns 201 with the IDs and the location of the audience', async () => {
    const before = Date.now();
    const answer = await post({ name: 'Made', file_path: 'made/' });
    expect(answer.status).toBe(201);
    const made = createdAudienceSchema.strict().parse(await answer.json());
    const location = answer.headers.get('location') ?? '';
    expect(location).toBe(`/v2/firstparty/audience/${made.audience_id}`);
    expect((await market.audiences.request(location)).status).toBe(200);
    const details = await market.audiences.settled(made.audience_id);
    expect(details).toMatchObject({ ...made, name: 'Made', status: 2, unique_devices: 3 });
    for (const time of [details.created_at, details.updated_at, details.file[0]?.updated_at ?? '']) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Math.abs(Date.parse(time) - before)).toBeLessThan(60_000);
    }
    expect(details.updated_at >= details.created_at).toBe(true);
  });

  it('assigns segment IDs that never equal audience IDs', async () => {
    const made = await Promise.all([1, 2, 3].map(() => market.audiences.create('Segment', nothing)));
    const [ids, segments] = [made.map(({ audienceId }) => audienceId), made.map(({ segmentId }) => segmentId)];
    expect(new Set([...ids, ...segments]).size).toBe(6);
    const listed = await market.audiences.list();
    expect(new Set(listed.map(({ default_warehouse_segment_id: id }) => id)).size).toBe(listed.length);
  });

  it.each([
    ['trimmed', '  \tSummer \n', 'Summer'],
    ['of one character', 'x', 'x'],
    ['of 256 characters', 'n'.repeat(256), 'n'.repeat(256)],
    ['of 256 characters with surrounding spaces', ` ${'n'.repeat(256)} `, 'n'.repeat(256)],
    ['of 256 emoji', '🙂'.repeat(256), '🙂'.repeat(256)],
    ['that another audience has', 'existing', 'existing'],
  ])('accepts a name %s', async (_what, name, kept) => {
    const { audienceId } = await market.audiences.create(name, nothing);
    expect((await market.audiences.get(audienceId)).name).toBe(kept);
  });

  it.each([
    ['no body fields', {}, ['/file_path', '/name']],
    ['no name', { file_path: 'a' }, ['/name']],
    ['an empty name', { name: '', file_path: 'a' }, ['/name']],
    ['a name of spaces', { name: ' \t\n ', file_path: 'a' }, ['/name']],
    ['a name of 257 characters', { name: 'n'.repeat(257), file_path: 'a' }, ['/name']],
    ['a name of 257 emoji', { name: '🙂'.repeat(257), file_path: 'a' }, ['/name']],
    ['a name with a NUL', { name: 'a\0b', file_path: 'a' }, ['/name']],
    ['a name with a lone surrogate', { name: 'a\ud800b', file_path: 'a' }, ['/name']],
    ['a name that is not a string', { name: 5, file_path: 'a' }, ['/name']],
    ['no path', { name: 'x' }, ['/file_path']],
    ['a path that is not a string', { name: 'x', file_path: ['a'] }, ['/file_path']],
    ['everything wrong at once', { name: '', file_path: 7, surprise: 1 }, ['/file_path', '/name', '/surprise']],
    ['a field that does not exist', { name: 'x', file_path: 'a', compressed: true }, ['/compressed']],
    ['a list', [], ['']],
    ['null', null, ['']],
  ])('rejects %s with 400 and a pointer to the field', async (_what, body, pointers) => {
    const problem = await market.audiences.expectProblem('POST', audiencePath, body);
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request', instance: audiencePath });
    expect(problem.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(pointers);
  });

  const wrongPaths = ['', '/made/a.csv', 's3://bucket/made/a.csv', 'https://host/a.csv', '..', '../made/a.csv'];
  it.each([...wrongPaths, 'made/../../x/a.csv', 'made/..', './made/a.csv', 'a\nb.csv', 'a\0b.csv', '\u007f.csv'])(
    'rejects the path %j when creating and appending',
    async (path) => {
      for (const given of [path, market.partner.prefix + path]) {
        // The same rules apply to a path that includes the prefix.
        const create = await market.audiences.expectProblem('POST', audiencePath, { name: 'x', file_path: given });
        const append = await market.audiences.expectProblem('PATCH', `${audiencePath}/${existing}`, {
          file_path: given,
        });
        for (const problem of [create, append]) {
          expect(problem).toMatchObject({ status: 400, code: 'invalid_file_path' });
          expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(['/file_path']);
        }
      }
    },
  );

  it.each(['x'.repeat(1_100), 'ö'.repeat(600), 'x'.repeat(2_000)])(
    'rejects a path that is too long for an S3 key (case %#)',
    async (path) => {
      const problem = await market.audiences.expectProblem('POST', audiencePath, { name: 'x', file_path: path });
      expect(problem).toMatchObject({ status: 400, errors: [{ pointer: '/file_path' }] });
    },
  );

  it('prefers a folder that has the same name as the prefix', async () => {
    const { prefix } = market.partner;
    await market.partner.upload(`${prefix}twice/1.csv`, rows(0, 2));
    await market.partner.upload('twice/1.csv', rows(0, 1));
    const { audienceId } = await market.audiences.create('Twice', `${prefix}twice/`);
    const { file } = await market.audiences.settled(audienceId);
    expect(file.map(({ s3_path, rows_uploaded }) => [s3_path, rows_uploaded])).toEqual([
      [`${prefix}${prefix}twice/1.csv`, 2],
    ]);
  });

  it('accepts a path with or without the prefix', async () => {
    const { prefix } = market.partner;
    const paths = ['made/a.csv', `${prefix}made/a.csv`, `${prefix}made/`, 'mad'];
    const made = await Promise.all(paths.map((path) => market.audiences.create('prefix', path)));
    for (const { audienceId } of made) {
      const { status, file } = await market.audiences.settled(audienceId);
      expect([status, file.map(({ s3_path }) => s3_path)]).toEqual([2, [`${prefix}made/a.csv`]]);
    }
  });

  it.each([
    { name: 'broken JSON', init: { body: '{' }, status: 400 },
    { name: 'an empty body', init: { body: '', headers: { 'content-type': 'application/json' } }, status: 400 },
    { name: 'another media type', init: { body: 'x', headers: { 'content-type': 'text/csv' } }, status: 415 },
    { name: 'a body that is too large', init: { body: JSON.stringify({ name: 'x'.repeat(1_100_000) }) }, status: 413 },
  ])('responds to $name with $status and a problem', async ({ init, status }) => {
    const answer = await market.audiences.request(audiencePath, { method: 'POST', ...init });
    expect(answer.status).toBe(status);
    const problem = problemSchema.parse(await readProblem(answer));
    expect(problem.status).toBe(status);
    expect(answer.headers.get('x-request-id')).toBe(problem.request_id);
  });

  it('requires a valid API key', async () => {
    const one = `${audiencePath}/${existing}`;
    const calls = [
      ['GET', audiencePath],
      ['POST', audiencePath],
      ['GET', one],
      ['PATCH', one],
      ['PUT', one],
    ] as const;
    for (const [method, path] of [...calls, ['GET', `${one}/errors`] as const]) {
      for (const headers of [undefined, { authorization: 'Bearer wrong' }, { authorization: 'Basic eDp5' }]) {
        const answer = await fetch(market.service.url + path, { method, ...(headers && { headers }) });
        expect([method, path, answer.status]).toEqual([method, path, 401]);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
        expect(problemSchema.parse(await readProblem(answer)).code).toBe('unauthenticated');
      }
    }
  });
});
