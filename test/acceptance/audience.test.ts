import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { device } from '../support/device-id.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { audienceClient, audiencePath, type AudienceClient } from './audience-client.ts';

describe('audiences', () => {
  let market: Marketplace;
  let api: AudienceClient;

  beforeAll(async () => {
    market = await startMarketplace('audience');
    api = audienceClient(market.service.url, market.partner.apiKey);
    // Devices 0 to 99 are in the device warehouse.
    await market.partner.createAttribute('sport', 'sport');
    await market.partner.upload('known.csv', Array.from({ length: 100 }, (_, n) => `${device(n)},sport\n`).join(''));
    await market.api.waitForEnd(await market.api.queue({ file_path: 'known.csv', key_type: 1 }));
  });
  afterAll(() => market.stop());

  it('an audience is created from a file, with exact counts', async () => {
    await market.partner.upload('one/a.csv', `id,event\n${rows(90, 110)}${rows(90, 100, 'click')}`);
    const { audienceId, segmentId } = await api.create('  Summer  ', 'one/a.csv');
    const details = await api.settled(audienceId);
    expect(details).toMatchObject({
      audience_id: audienceId,
      name: 'Summer',
      default_warehouse_segment_id: segmentId,
      status: 2,
      uploaded_devices: 20,
      unique_devices: 20,
      matched_devices: 10,
      file: [{ s3_path: `${market.partner.prefix}one/a.csv`, status: 2, rows_uploaded: 30 }],
    });
    expect(segmentId).not.toBe(audienceId);
  });

  it('an audience is created from all files under a prefix, grows with appends, and loads no file twice', async () => {
    await market.partner.upload('grow/1.csv', rows(0, 50));
    await market.partner.upload('grow/2.csv.gz', gzipSync(rows(40, 120)));
    const { audienceId } = await api.create('Grows', 'grow/');
    expect(await api.settled(audienceId)).toMatchObject({
      status: 2,
      uploaded_devices: 130,
      unique_devices: 120,
      matched_devices: 100,
    });
    await market.partner.upload('grow/3.tsv', `${device(500)}\tview\n`);
    await api.append(audienceId, 'grow/');
    const details = await api.settled(audienceId);
    expect(details).toMatchObject({ status: 2, uploaded_devices: 131, unique_devices: 121, matched_devices: 100 });
    expect(
      details.file.map(({ s3_path, rows_uploaded }) => [s3_path.slice(market.partner.prefix.length), rows_uploaded]),
    ).toEqual([
      ['grow/1.csv', 50],
      ['grow/2.csv.gz', 80],
      ['grow/3.tsv', 1],
    ]);
    await market.partner.upload('grow/1.csv', rows(0, 51));
    await api.append(audienceId, `${market.partner.prefix}grow/`);
    expect(await api.settled(audienceId)).toMatchObject({ uploaded_devices: 182, unique_devices: 121 });
  });

  it('an audience is cleared immediately and can be filled again', async () => {
    await market.partner.upload('clear/a.csv', rows(0, 10));
    const { audienceId } = await api.create('Clear', 'clear/a.csv');
    await api.settled(audienceId);
    await api.clear(audienceId);
    expect(await api.get(audienceId)).toMatchObject({
      status: 2,
      uploaded_devices: 0,
      unique_devices: 0,
      matched_devices: 0,
      file: [],
    });
    await api.append(audienceId, 'clear/a.csv');
    expect(await api.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 10 });
  });

  it('fails a file with a bad row, reports the row, and loads the fixed file', async () => {
    await market.partner.upload('bad/a.csv', `${rows(0, 3)}nonsense,\n`);
    await market.partner.upload('bad/b.csv', rows(0, 2));
    const { audienceId } = await api.create('Bad', 'bad/');
    const failed = await api.settled(audienceId);
    expect(failed).toMatchObject({ status: 3, uploaded_devices: 2, unique_devices: 2 });
    expect(failed.file.map(({ status, rows_uploaded }) => [status, rows_uploaded])).toEqual([
      [3, 0],
      [2, 2],
    ]);
    const errors = await (await api.request(`${audiencePath}/${audienceId}/errors`)).json();
    expect(errors).toMatchObject([
      { code: 'bad_rows', row: null },
      { code: 'invalid_id', row: 4, column: 'id', text: 'nonsense,' },
    ]);
    await market.partner.upload('bad/a.csv', rows(0, 4));
    await api.append(audienceId, 'bad/');
    const fixed = await api.settled(audienceId);
    expect(fixed).toMatchObject({ status: 2, uploaded_devices: 6, unique_devices: 4 });
    expect(fixed.file).toHaveLength(2);
  });

  it('an audience has status 3 while a path matches no files and status 2 after the files are loaded', async () => {
    const { audienceId } = await api.create('Nothing', 'nothing/');
    expect(await api.settled(audienceId)).toMatchObject({
      status: 3,
      file: [{ s3_path: `${market.partner.prefix}nothing/`, status: 3, rows_uploaded: 0 }],
    });
    await market.partner.upload('nothing/a.csv', rows(0, 1));
    await api.append(audienceId, 'nothing/');
    expect(await api.settled(audienceId)).toMatchObject({ status: 2, file: [{ status: 2, rows_uploaded: 1 }] });
  });

  it('an audience has status 2 again after an append that matches files follows one that matched none', async () => {
    await market.partner.upload('right/a.csv', rows(0, 3));
    const { audienceId } = await api.create('Mistyped', 'rihgt/');
    expect(await api.settled(audienceId)).toMatchObject({ status: 3 });
    await api.append(audienceId, 'right/');
    const { prefix } = market.partner;
    expect(await api.settled(audienceId)).toMatchObject({
      status: 2,
      unique_devices: 3,
      file: [
        { s3_path: `${prefix}rihgt/`, status: 3, rows_uploaded: 0 },
        { s3_path: `${prefix}right/a.csv`, status: 2, rows_uploaded: 3 },
      ],
    });
    await api.append(audienceId, 'worng/');
    expect(await api.settled(audienceId)).toMatchObject({ status: 3, unique_devices: 3 });
  });
});
