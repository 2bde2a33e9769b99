import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { rows } from '../support/file-rows.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { type AudienceDetails, audiencePath } from './audience-client.ts';

describe('appending files to an audience', () => {
  let market: Audiences;

  beforeAll(async () => {
    market = await joinAudiences();
  });
  afterAll(() => market.stop());

  const upload = (path: string, body: string): Promise<void> => market.partner.upload(path, body);
  const filesOf = ({ file }: AudienceDetails): unknown[] =>
    file.map(({ s3_path, status, rows_uploaded }) => [
      s3_path.slice(market.partner.prefix.length),
      status,
      rows_uploaded,
    ]);
  const make = async (path: string): Promise<number> => {
    const { audienceId } = await market.audiences.create(path, path);
    await market.audiences.settled(audienceId);
    return audienceId;
  };
  const append = async (audienceId: number, path: string): Promise<AudienceDetails> => {
    await market.audiences.append(audienceId, path);
    return market.audiences.settled(audienceId);
  };
  const timesLoaded = (audienceId: number): Promise<number> =>
    withDatabase(market.stores, async (client) => {
      const { rows: found } = await client.query<{ files: string }>(
        'SELECT count(*) AS files FROM job_file WHERE audience_id = $1 AND attempt > 0',
        [audienceId],
      );
      return Number(found[0]?.files);
    });

  it('returns 204 without a body and keeps the audience at status 0 or 1 until the files are loaded', async () => {
    await upload('back/a.csv', rows(0, 2));
    const audienceId = await make('back/a.csv');
    await upload('back/b.csv', rows(2, 4));
    const answer = await market.audiences.request(`${audiencePath}/${audienceId}`, {
      method: 'PATCH',
      body: JSON.stringify({ file_path: 'back/b.csv' }),
    });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 4 });
  });

  it('ignores a file that was already loaded, regardless of the path that matches it', async () => {
    await upload('same/a.csv', rows(0, 3));
    await upload('same/b.csv', rows(3, 6));
    const audienceId = await make('same/');
    const before = await market.audiences.get(audienceId);
    for (const path of ['same/', 'same/a.csv', 'same', `${market.partner.prefix}same/b.csv`]) {
      const { updated_at: time, progress, ...after } = await append(audienceId, path);
      expect({ ...after, updated_at: time, progress }).toEqual({ ...before, updated_at: time, progress });
      expect(progress).toMatchObject({ percent: 100, estimated_seconds_left: 0 });
    }
    // A file with the same bytes is not a new file.
    await upload('same/a.csv', rows(0, 3));
    expect(filesOf(await append(audienceId, 'same/'))).toEqual(filesOf(before));
    expect(await timesLoaded(audienceId)).toBe(2);
  });

  it('loads an overwritten file but ignores a file whose original content is restored', async () => {
    await upload('over/a.csv', rows(0, 3));
    const audienceId = await make('over/');
    await upload('over/a.csv', rows(2, 7));
    const second = await append(audienceId, 'over/');
    expect(second).toMatchObject({ uploaded_devices: 8, unique_devices: 7 });
    const versions = [
      ['over/a.csv', 2, 3],
      ['over/a.csv', 2, 5],
    ];
    expect(filesOf(second)).toEqual(versions);
    await upload('over/a.csv', rows(0, 3));
    const third = await append(audienceId, 'over/');
    expect(third).toMatchObject({ status: 2, uploaded_devices: 8, unique_devices: 7 });
    expect(filesOf(third)).toEqual(versions);
    expect(await timesLoaded(audienceId)).toBe(2);
  });

  it('loads a failed file again, whether it is unchanged or fixed', async () => {
    await upload('again/a.csv', `${rows(0, 2)}nonsense,\n`);
    await upload('again/b.csv', rows(5, 6));
    const audienceId = await make('again/');
    const failed = [
      ['again/b.csv', 2, 1],
      ['again/a.csv', 3, 0],
    ];
    const again = await append(audienceId, 'again/');
    expect([again.status, filesOf(again)]).toEqual([3, failed]);
    expect(await timesLoaded(audienceId)).toBe(3);
    await upload('again/a.csv', rows(0, 2));
    const fixed = await append(audienceId, 'again/a.csv');
    expect(fixed).toMatchObject({ status: 2, uploaded_devices: 3, unique_devices: 3 });
    expect(filesOf(fixed)).toHaveLength(2);
  });

  it('lists a path once, with its current state, after the missing file is uploaded', async () => {
    const audienceId = await make('late/a.csv');
    expect(filesOf(await append(audienceId, 'late/a.csv'))).toEqual([['late/a.csv', 3, 0]]);
    await upload('late/a.csv', rows(0, 2));
    const found = await append(audienceId, 'late/');
    expect([found.status, filesOf(found)]).toEqual([2, [['late/a.csv', 2, 2]]]);
  });

  it('loads each file once when overlapping prefixes are appended concurrently', async () => {
    for (let n = 0; n < 6; n++) await upload(`lap/part-${n}.csv`, rows(n * 10, n * 10 + 15));
    const audienceId = await make('lap/part-0.csv');
    const paths = [
      'lap/',
      'lap/part',
      'lap/part-3.csv',
      `${market.partner.prefix}lap/`,
      'lap/',
      'lap',
      'lap/part-0.csv',
    ];
    await Promise.all(paths.map((path) => market.audiences.append(audienceId, path)));
    const details = await market.audiences.settled(audienceId);
    expect(details).toMatchObject({ status: 2, uploaded_devices: 90, unique_devices: 65 });
    // Appends take effect in the order in which they get the lock, not in call order.
    const files = filesOf(details).map(String).toSorted();
    expect(files).toEqual(Array.from({ length: 6 }, (_, n) => `lap/part-${n}.csv,2,15`));
  });

  it('matches a prefix literally, lists files in byte order, and skips folder placeholders', async () => {
    for (const path of ['lit/b.csv', 'lit-a.csv', 'lit/B.csv', 'lit/ä.csv', 'literal.csv'])
      await upload(path, rows(0, 1));
    await upload('lit/', '');
    await upload('lit/sub/', '');
    const details = await market.audiences.get(await make('lit'));
    expect(filesOf(details).map((file) => String(file).split(',')[0])).toEqual([
      'lit-a.csv',
      'lit/B.csv',
      'lit/b.csv',
      'lit/ä.csv',
      'literal.csv',
    ]);
    expect(details).toMatchObject({ status: 2, uploaded_devices: 5, unique_devices: 1 });
  });

  it('stores one row per distinct pair of device and event', async () => {
    await upload('merge/a.csv', `${device(1)},click\n${device(1)},click\n${device(1)},view\n${device(2)},\n`);
    const audienceId = await make('merge/a.csv');
    expect(await market.audiences.get(audienceId)).toMatchObject({
      uploaded_devices: 2,
      unique_devices: 2,
      file: [{ rows_uploaded: 4 }],
    });
    await upload('merge/b.csv', `${device(1).toUpperCase()},click\n${device(2)},click\n${device(3)},\n`);
    expect(await append(audienceId, 'merge/b.csv')).toMatchObject({ uploaded_devices: 5, unique_devices: 3 });
    const members = await selectOnShards(
      market.stores,
      `SELECT right(toString(device), 1), event FROM audience_devices_local FINAL WHERE audience_id = ${audienceId}`,
    );
    expect(members).toEqual(['1\tclick', '1\tview', '2\t', '2\tclick', '3\t']);
  });

  it('counts a device as matched if it was known at the time of the last load', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => device(8_710_000 + n));
    await market.makeKnown(ids.slice(0, 4));
    await upload('match/a.csv', rows(8_710_000, 8_710_006));
    const audienceId = await make('match/');
    expect(await market.audiences.get(audienceId)).toMatchObject({ unique_devices: 6, matched_devices: 4 });
    await market.makeKnown(ids);
    expect(await market.audiences.get(audienceId)).toMatchObject({ unique_devices: 6, matched_devices: 4 });
    await upload('match/b.csv', rows(8_710_005, 8_710_012));
    const details = await append(audienceId, 'match/');
    expect(details).toMatchObject({ uploaded_devices: 13, unique_devices: 12, matched_devices: 10 });
  });

  it.each([
    [{}, ['/file_path']],
    [{ file_path: 1, name: 'x' }, ['/file_path', '/name']],
    [null, ['']],
  ])('rejects an append with the body %j', async (body, pointers) => {
    const audienceId = await make('back/a.csv');
    const problem = await market.audiences.expectProblem('PATCH', `${audiencePath}/${audienceId}`, body);
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(problem.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(pointers);
  });
});
