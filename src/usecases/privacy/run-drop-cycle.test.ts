import { readFileSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MemoryDrop, memoryDrop } from '../../../test/drop/drop-memory.ts';
import { type DropServer, startDropServer } from '../../../test/drop/drop-server.ts';
import { zipOf } from '../../../test/drop/zip.ts';
import { dayOfArchive } from '../../domain/drop.ts';
import { amendAnswers } from './amend-drop.ts';
import { closeDropCycle } from './run-drop-cycle.ts';

const apiKey = 'the-key';
const item = { id: 'A7kP2xQ9Lm4R', hash: '250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=' };
const { signal } = new AbortController();
const done = { is: 'done', cycleId: 1 };
const tryLater = { status: 429, body: { message: 'Too many requests.' } };
const noBatch = { status: 409, body: { message: 'No active download is waiting for responses.' } };

let server: DropServer;
let drop: MemoryDrop;

beforeEach(async () => {
  server = await startDropServer(apiKey);
  drop = memoryDrop(server.url, apiKey);
});
afterEach(async () => {
  drop.close();
  await server.close();
});

/** Answers the uploads with these replies, in order. For null, the simulated DROP replies as usual. */
function answerUploads(...replies: (ReturnType<NonNullable<DropServer['behavior']['fault']>> | 'lost')[]): void {
  let isLost = false;
  server.behavior.fault = (path) => {
    isLost = false;
    if (!path.startsWith('/data/upload') && !path.startsWith('/data/amend')) return null;
    const reply = replies.shift() ?? null;
    isLost = reply === 'lost';
    return reply === 'lost' ? null : reply;
  };
  server.behavior.losesResponse = () => isLost;
}

const uploads = () => drop.deps.cycles.listUploads(1);

describe('a download', () => {
  it.each([
    ['a page from a proxy', { status: 200, body: Buffer.from('<html>'), headers: { 'content-type': 'text/html' } }],
    ['another object', { status: 200, body: { message: 'Sign in.', redirect: '/login' } }],
    ['an object without a message', { status: 200, body: {} }],
    ['nothing', { status: 200, body: Buffer.alloc(0) }],
    ['a message as text', { status: 200, body: { message: 'x' }, headers: { 'content-type': 'text/plain' } }],
  ])('does not count as a fetch if the response is %s', async (_behavior, reply) => {
    server.add({ lists: { MAID: [item] } });
    server.behavior.fault = () => reply;
    expect(await drop.failedSync()).toMatchObject({ code: 'invalid_request' });
    const [kept = ''] = readdirSync(drop.folder);
    expect(readFileSync(join(drop.folder, kept))).toEqual(
      Buffer.isBuffer(reply.body) ? reply.body : Buffer.from(JSON.stringify(reply.body)),
    );
    expect(drop.records.fetches).toEqual([]);
    server.behavior.fault = null;
    expect(await drop.sync()).toEqual(done);
  });

  it.each([
    ['no name', { 'content-type': 'application/zip' }],
    ['another type', { 'content-type': 'application/octet-stream' }],
    ['the type of a message', { 'content-type': 'application/json' }],
  ])('keeps an archive with %s', async (_behavior, headers) => {
    server.add({ lists: { MAID: [item] } });
    server.behavior.archiveHeaders = headers;
    expect(await drop.sync()).toEqual(done);
    expect([...(server.delivered[0]?.answers ?? [])]).toEqual([[item.id, ['5']]]);
  });
});

describe('the name of an archive', () => {
  it.each([
    ['attachment; filename="20260801_4821_DROP.zip"', /^20260801_4821_DROP\.zip$/],
    ["attachment; filename*=UTF-8''20260801%5F4821_DROP.zip", /^20260801_4821_DROP\.zip$/],
    ["attachment; filename*=UTF-8''%ff.zip", /^[0-9a-f]{16}\.zip$/],
    ['attachment; filename="../x.zip"', /^[0-9a-f]{16}\.zip$/],
  ])('is read from %s', async (disposition, name) => {
    server.add({ lists: { MAID: [item] } });
    server.behavior.archiveHeaders = { 'content-disposition': disposition, 'content-type': 'application/zip' };
    expect(await drop.sync()).toEqual(done);
    expect((await drop.deps.cycles.find(1))?.archive?.name).toMatch(name);
  });
});

describe('the deadline', () => {
  it('counts from the time at which the archive was received', async () => {
    server.add({ lists: { MAID: [item] } });
    drop.deps.storage.isUnavailable = true;
    await drop.failedSync();
    drop.deps.storage.isUnavailable = false;
    const received = new Date('2026-08-01T12:00:00Z');
    utimesSync(join(drop.folder, '20260801_4821_DROP.zip'), received, received);
    expect(await drop.sync()).toEqual(done);
    expect((await drop.deps.cycles.find(1))?.downloadedAt).toEqual(received);
  });

  it('counts from the day of an archive that was sent again', async () => {
    server.add({ lists: { MAID: [item] } });
    await drop.deps.api.download(signal);
    const { name, content } = server.supportArchive();
    const day = dayOfArchive(name, drop.deps.now()) ?? undefined;
    await drop.deps.spool.save(name, Readable.from([content]), day);
    expect(await drop.sync()).toEqual(done);
    expect((await drop.deps.cycles.find(1))?.downloadedAt).toEqual(new Date('2026-08-01'));
  });
});

describe('an archive that cannot be read', () => {
  beforeEach(async () => {
    server.add({ lists: { MAID: [item] } });
    drop.items.stored.isUnreadable = true;
    await drop.failedSync();
    drop.items.stored.isUnreadable = false;
  });
  const other = zipOf(
    new Map([
      ['20260801_4821_MAID.csv', `ID,Hash\n${item.id},${item.hash}\n`],
      ['20260801_4821_Email.csv', 'ID,Hash\n'],
    ]),
  );
  const archive = () => drop.deps.cycles.find(1).then((cycle) => cycle?.archive);

  it('is replaced by another one with the same name', async () => {
    const first = await archive();
    expect((await drop.deps.cycles.find(1))?.failure).toContain('It is stored.');
    await drop.deps.spool.save('20260801_4821_DROP.zip', Readable.from([other]));
    expect(await drop.sync()).toEqual(done);
    const second = await archive();
    expect(second).toMatchObject({ name: first?.name, sha256: drop.deps.digest(other) });
    expect(second?.key).not.toBe(first?.key);
    expect([...(server.delivered[0]?.answers ?? [])]).toEqual([[item.id, ['5']]]);
    expect(await drop.deps.spool.find()).toBeNull();
  });

  it('is read again if there is no other archive', async () => {
    const first = await archive();
    await drop.deps.spool.save('20260801_4821_DROP.zip', Readable.from([server.supportArchive().content]));
    expect(await drop.sync()).toEqual(done);
    expect(await archive()).toEqual(first);
  });
});

describe('the proof of a cycle', () => {
  it('counts the devices of a failed erasure once', async () => {
    server.add({ lists: { MAID: [item] } });
    drop.items.stored.devices = 1;
    const waits = { is: 'waiting', for: 'erasure' };
    expect(await drop.sync()).toMatchObject(waits);
    drop.erasures.end('The list was lost.');
    expect(await drop.sync()).toMatchObject(waits);
    drop.erasures.end(null);
    expect(await drop.sync()).toEqual(done);
    expect(drop.records.proofs.get(1)).toMatchObject({
      devices_erased: 1,
      deletion_ids: [2],
      erased: [{ rows_erased: 1 }],
      items_by_status: { 3: 1 },
    });
  });
});

describe('the answers in a cycle', () => {
  beforeEach(() => server.add({ lists: { MAID: [item] } }));

  it('count as accepted if the response was lost and DROP has since closed the batch', async () => {
    answerUploads('lost');
    expect(await drop.sync()).toMatchObject({ is: 'waiting', for: 'drop' });
    expect(await drop.sync()).toEqual(done);
    expect([...(server.delivered[0]?.answers ?? [])]).toEqual([[item.id, ['5']]]);
  });

  it.each([
    ['refused', { status: 400, body: { message: 'Invalid CSV header. Expected: Id,Status.' } }],
    ['limited', tryLater],
    ['not authorized', { status: 403, body: { message: 'The key has expired.' } }],
    ['not expected', noBatch],
  ])('do not count as accepted after a request that was %s', async (_behavior, reply) => {
    answerUploads(reply, noBatch);
    await drop.failedSync();
    expect(await drop.failedSync()).toMatchObject({ code: 'invalid_request' });
    expect((await uploads()).filter(({ sentAt, acceptedAt }) => sentAt ?? acceptedAt)).toEqual([]);
    expect(await drop.sync()).toEqual(done);
    expect([...(server.delivered[0]?.answers ?? [])]).toEqual([[item.id, ['5']]]);
  });

  it.each([
    ['the server fails', { status: 502, body: { message: 'Bad gateway.' } }],
    ['the response does not name the file', { status: 202, body: { message: 'Received.' } }],
  ])('may have been accepted if %s', async (_behavior, reply) => {
    answerUploads(reply);
    expect(await drop.sync()).toMatchObject({ is: 'waiting', for: 'drop' });
    expect((await uploads())[0]?.sentAt).not.toBeNull();
    expect(await drop.sync()).toEqual(done);
  });

  it('are stored again under another name after DROP has refused them', async () => {
    const refused = { status: 400, body: { message: 'The file name is not unique.' } };
    answerUploads(refused, refused);
    expect(String(await drop.failedSync())).toContain('not unique');
    await drop.failedSync();
    expect(await drop.sync()).toEqual(done);
    expect([...(server.delivered[0]?.accepted ?? [])]).toEqual(['20260801_4821_MAID_r3.csv']);
    expect([...(server.delivered[0]?.answers ?? [])]).toEqual([[item.id, ['5']]]);
    expect(drop.records.proofs.get(1)).toMatchObject({
      items_by_status: { 5: 1 },
      uploads: [{ name: '20260801_4821_MAID_r3.csv' }],
    });
    expect((await uploads()).map(({ isRefused }) => isRefused)).toEqual([true, true, false]);
  });

  it('are not sent after the operator has closed the cycle', async () => {
    await expect(closeDropCycle(drop.deps, 1)).rejects.toThrow('does not wait');
    expect(await drop.deps.cycles.list(1)).toEqual([]);
    answerUploads(noBatch);
    await drop.failedSync();
    await closeDropCycle(drop.deps, 1);
    expect(await uploads()).toMatchObject([{ acceptedAt: null, isRefused: true, message: 'Not sent.' }]);
    expect(drop.records.proofs.get(1)).toMatchObject({ items_by_status: { 5: 1 }, uploads: [] });
    expect(server.delivered[0]?.accepted.size).toBe(0);
    await expect(closeDropCycle(drop.deps, 1)).rejects.toThrow('does not wait');
  });

  it('may have been accepted by an attempt that preceded a refused one', async () => {
    answerUploads('lost', tryLater);
    await drop.sync();
    expect(await drop.sync()).toMatchObject({ is: 'waiting', for: 'drop' });
    expect(await drop.sync()).toEqual(done);
    expect([...(server.delivered[0]?.answers ?? [])]).toEqual([[item.id, ['5']]]);
  });
});

describe('an amendment', () => {
  beforeEach(async () => {
    server.add({ lists: { MAID: [item] } });
    await drop.sync();
  });

  const amend = (status: number): Promise<unknown> =>
    amendAnswers(drop.deps, 1, `Id,Status\n${item.id},${status}\n`, signal).catch((error: unknown) => error);

  it('does not count as accepted if DROP responds that it cannot process it', async () => {
    answerUploads('lost', noBatch);
    expect(await amend(2)).toMatchObject({ code: 'unavailable' });
    expect(await amend(4)).toMatchObject({ code: 'invalid_request' });
    expect((await uploads()).filter(({ isAmendment }) => isAmendment)).toMatchObject([{ acceptedAt: null }]);
    // DROP has accepted the first one and says so.
    expect(await amend(4)).toMatch(/_amend2\.csv$/);
    expect(server.delivered[0]?.answers.get(item.id)).toEqual(['5', '2', '4']);
  });

  it.each([
    ['refused', { status: 400, body: { message: 'The file is not valid.' } }],
    ['not expected', noBatch],
  ])('that was %s is not sent again before the next one', async (_behavior, reply) => {
    answerUploads(reply);
    expect(await amend(2)).toMatchObject({ code: 'invalid_request' });
    expect(await amend(4)).toMatch(/_amend2\.csv$/);
    expect(server.delivered[0]?.answers.get(item.id)).toEqual(['5', '4']);
  });
});
