import { PutObjectCommand } from '@aws-sdk/client-s3';
import { queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { createdAudienceSchema } from '../../src/adapters/http/records/audience.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { audiencePath } from '../acceptance/audience-client.ts';
import { firstMember } from '../fault/known-devices.ts';
import { textOf } from '../fault/fault-partner.ts';
import type { ModelFile } from '../support/audience-model.ts';
import type { OwnBucket } from '../support/own-bucket.ts';
import { device } from '../support/device-id.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { ModelRow } from '../support/warehouse-model.ts';
import { newBarePartner, type Wired } from '../support/wired.ts';
import type { PartnerRecord, Request } from './record.ts';

/** A partner that asks for one random thing after the other, and keeps its record. */
export type ChaosPartner = {
  readonly record: PartnerRecord;
  /** Of any api that is there at the moment. Ends when it was answered, or when nobody knows. */
  readonly askForSomething: () => Promise<void>;
  /** Answers that should not be: neither what was asked for, nor "come again". */
  readonly wrong: readonly string[];
};

const wishes = [
  'merge',
  'merge',
  'merge',
  'own',
  'replace',
  'nonsense',
  'delete',
  'create',
  'append',
  'append',
  'clear',
] as const;

export async function newChaosPartner(
  deps: Wired,
  options: { bucket: string; own: OwnBucket; anApi: () => string; pick: (most: number) => number },
): Promise<ChaosPartner> {
  const { pick } = options;
  const { id, prefix, apiKey } = await newBarePartner(deps);
  const attributes: number[] = [];
  for (const name of ['a', 'b', 'c']) attributes.push((await deps.attributes.create(id, { name, foreignKeys: [] })).id);
  const record: PartnerRecord = { partnerId: id, requests: [] };
  const wrong: string[] = [];
  /** Those whose creation was answered. */
  const audiences: { readonly id: number; readonly name: string }[] = [];
  let serial = 0;

  const toShared = async (path: string, text: string): Promise<void> => {
    await deps.s3.send(new PutObjectCommand({ Bucket: options.bucket, Key: prefix + path, Body: text }));
  };
  const upload = async (folder: string, texts: readonly string[], put = toShared): Promise<void> => {
    for (const [n, text] of texts.entries()) {
      // The storage is being killed as well.
      const isThere = async (): Promise<boolean> => put(`${folder}${n}.csv`, text).then(() => true);
      await waitUntil(`${folder}${n}.csv is uploaded`, isThere, 300, 500);
    }
  };

  /** The answer's body; null when nobody knows what became of it. */
  const send = async (request: Request, method: string, path: string, body?: object): Promise<unknown> => {
    record.requests.push(request);
    const { request: fetchFrom } = apiClient(options.anApi(), apiKey);
    try {
      const answer = await fetchFrom(path, { method, ...(body && { body: JSON.stringify(body) }) });
      const text = await answer.text();
      if (answer.ok) {
        request.answer = { jobId: null };
        return text === '' ? {} : JSON.parse(text);
      }
      if (answer.status !== 503) wrong.push(`partner ${id}: ${method} ${path} was answered ${answer.status}: ${text}`);
      else if (answer.headers.get('retry-after') === null) wrong.push(`partner ${id}: 503 without Retry-After`);
    } catch {
      // The api was killed while it was asked.
    }
    return null;
  };
  const sendImport = async (request: Request, method: 'POST' | 'DELETE', body: object): Promise<void> => {
    const answer = await send(request, method, '/v1/marketplace/import', body);
    if (answer !== null) request.answer = { jobId: queuedSchema.parse(answer).import_log_id };
  };
  const newFolder = (): string => `${serial++}/`;

  const rows = (): ModelRow[] => {
    const first = pick(40);
    const chosen = attributes.filter(() => pick(2) === 0);
    return Array.from({ length: 1 + pick(30) }, (_, n) => ({
      device: device(id * 1_000 + first + n),
      isDelete: pick(8) === 0,
      attributes: chosen.length > 0 ? chosen : attributes.slice(0, 1),
    }));
  };
  const members = (): ModelFile => {
    const [first, event] = [pick(60), pick(3) === 0 ? 'click' : ''];
    const count = 1 + pick(30);
    return { rows: Array.from({ length: count }, (_, n) => [device(firstMember + first + n), event]), flaw: null };
  };
  const several = <T>(make: () => T): T[] => Array.from({ length: 1 + pick(6) }, make);

  const load = async (kind: 'create' | 'append', audience: { id: number; name: string } | null): Promise<void> => {
    const folder = newFolder();
    const files = several(members);
    await upload(
      folder,
      files.map((file) => file.rows.map((row) => `${row.join(',')}\n`).join('')),
    );
    const name = audience?.name ?? `Audience ${folder}`;
    const request: Request = { folder, what: { kind, audience: name, files }, answer: null };
    if (audience) {
      await send(request, 'PATCH', `${audiencePath}/${audience.id}`, { file_path: folder });
    } else {
      const answer = await send(request, 'POST', audiencePath, { name, file_path: folder });
      if (answer !== null) audiences.push({ id: createdAudienceSchema.parse(answer).audience_id, name });
    }
  };

  const importFromOwn = async (): Promise<void> => {
    const { own } = options;
    const folder = `${id}/${newFolder()}`;
    const files = several(rows);
    await upload(folder, files.map(textOf), own.upload);
    const path = `s3://${own.bucket}/${folder}`;
    const request: Request = { folder: path, what: { kind: 'merge', files, isNonsense: false }, answer: null };
    const { credentials } = own;
    await sendImport(request, 'POST', { file_path: path, path_type: 1, key_type: 0, compressed: false, credentials });
  };

  const carryOut = async (wish: (typeof wishes)[number]): Promise<void> => {
    const audience = audiences[pick(Math.max(1, audiences.length))];
    if (wish === 'delete') {
      const gone = attributes.filter(() => pick(2) === 0);
      if (gone.length === 0) return;
      const request: Request = { folder: '', what: { kind: 'delete', attributes: gone }, answer: null };
      await sendImport(request, 'DELETE', { key_type: 0, keys: gone.map(String) });
    } else if (wish === 'own') {
      await importFromOwn();
    } else if (wish === 'create' || (wish === 'append' && !audience)) {
      await load('create', null);
    } else if (wish === 'append' && audience) {
      await load('append', audience);
    } else if (wish === 'clear') {
      if (!audience) return;
      const clear = async (): Promise<boolean> => {
        const request: Request = { folder: '', what: { kind: 'clear', audience: audience.name }, answer: null };
        return (await send(request, 'PUT', `${audiencePath}/${audience.id}`)) !== null;
      };
      await waitUntil('a clear is answered', clear, 300, 500);
    } else {
      const folder = newFolder();
      const isNonsense = wish === 'nonsense';
      const kind = wish === 'replace' ? 'replace' : 'merge';
      const files = isNonsense ? [[]] : several(rows);
      await upload(folder, isNonsense ? ['nonsense,1\n'] : files.map(textOf));
      const request: Request = { folder, what: { kind, files, isNonsense }, answer: null };
      await sendImport(request, 'POST', { file_path: folder, key_type: 0, mode: kind, compressed: false });
    }
  };
  return { record, wrong, askForSomething: () => carryOut(wishes[pick(wishes.length)] ?? 'merge') };
}

/** Numbers below a bound, the same for the same seed. */
export function pickerOf(seed: number): (most: number) => number {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}
