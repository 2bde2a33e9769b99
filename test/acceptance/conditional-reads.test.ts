import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { device } from '../support/device-id.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import { audiencePath } from './audience-client.ts';

describe('a conditional read', () => {
  let service: Audiences;
  let importPath: string;
  let audienceId: number;

  beforeAll(async () => {
    service = await joinAudiences();
    await service.partner.createAttribute('sport', 'sport');
    await service.partner.upload('a.csv', `${device(1)},sport\n`);
    await service.partner.upload('b.csv', rows(0, 5));
    await service.partner.upload('c.csv', rows(5, 7));
    const importLogId = await service.api.queue({ file_path: 'a.csv', key_type: 1 });
    importPath = `/v1/marketplace/import/${importLogId}`;
    ({ audienceId } = await service.audiences.create('Summer', 'b.csv'));
    await service.api.waitForEnd(importLogId);
    await service.audiences.settled(audienceId);
  });
  afterAll(() => service.stop());

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    service.api.request(path, { method, headers });
  const paths = (): string[] => [importPath, `${audiencePath}/${audienceId}`, `/v1/firstparty/audience/${audienceId}`];

  it('returns a weak tag that does not change while the record is unchanged', async () => {
    for (const path of paths()) {
      const [one, other] = [await ask(path), await ask(path)];
      expect(one.headers.get('etag')).toMatch(/^W\/"[\w-]{22}"$/);
      expect(other.headers.get('etag')).toBe(one.headers.get('etag'));
      expect(await other.text()).toBe(await one.text());
      expect(one.headers.get('cache-control')).toBe('private, no-cache');
      expect(one.headers.get('vary')).toBe('Authorization, x-user-token, Cookie');
      expect(one.headers.has('preference-applied')).toBe(false);
    }
  });

  it('returns 304 without a body when the tag matches', async () => {
    for (const path of paths()) {
      const tag = (await ask(path)).headers.get('etag') ?? '';
      for (const known of [tag, tag.slice(2), `"x", ${tag}`, `W/"y",${tag.slice(2)} , "z"`, '*']) {
        const answer = await ask(path, { 'if-none-match': known });
        expect([answer.status, await answer.text()], known).toEqual([304, '']);
        expect(answer.headers.get('etag')).toBe(tag);
        expect(answer.headers.get('cache-control')).toBe('private, no-cache');
        expect(answer.headers.get('vary')).toBe('Authorization, x-user-token, Cookie');
        expect(answer.headers.has('content-type')).toBe(false);
        expect((await ask(path, { 'if-none-match': known }, 'HEAD')).status).toBe(304);
      }
    }
  });

  it('returns the record when the tag differs or the header is malformed', async () => {
    for (const path of paths()) {
      const tag = (await ask(path)).headers.get('etag') ?? '';
      for (const known of ['"x"', 'W/"x"', tag.slice(3, -1), `${tag} ${tag}`, `w/${tag.slice(2)}`, `*, ${tag}`, ',']) {
        const answer = await ask(path, { 'if-none-match': known });
        expect(answer.status, known).toBe(200);
        await answer.json();
      }
    }
  });

  it('returns a new tag after a change', async () => {
    const path = `${audiencePath}/${audienceId}`;
    const before = (await ask(path)).headers.get('etag') ?? '';
    await service.audiences.append(audienceId, 'c.csv');
    const answer = await ask(path, { 'if-none-match': before });
    expect(answer.status).toBe(200);
    await answer.json();
    await service.audiences.settled(audienceId);
    const after = (await ask(path)).headers.get('etag') ?? '';
    expect(after).not.toBe(before);
    expect((await ask(path, { 'if-none-match': before })).status).toBe(200);
    expect((await ask(path, { 'if-none-match': after })).status).toBe(304);
  });

  it('returns 404 for an unknown record, regardless of the tag', async () => {
    for (const path of ['/v1/marketplace/import/999999', `${audiencePath}/999999`]) {
      for (const headers of [{ 'if-none-match': '*' }, { prefer: 'wait=5' }]) {
        const answer = await ask(path, headers);
        expect(answer.status).toBe(404);
        expect(answer.headers.has('etag')).toBe(false);
        await answer.json();
      }
    }
  });
});
