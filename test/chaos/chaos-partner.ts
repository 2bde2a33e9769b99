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

/** A partner that sends random requests one at a time and records them. */
export type ChaosPartner = {
  readonly record: PartnerRecord;
  /** Sends a request to any running API process. Returns when the response arrives or the connection fails. */
  readonly sendRandomRequest: () => Promise<void>;
  /** Unexpected responses: neither success nor 503 with Retry-After. */
  readonly wrong: readonly string[];
};

const operations = [
  'merge',
  'merge',
  'merge',
  'own',
  'replace',
  'invalid',
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
  /** Audiences whose creation the API has confirmed. */
  const audiences: { readonly id: number; readonly name: string }[] = [];
  let serial = 0;

  const toShared = async (path: string, text: string): Promise<void> => {
    await deps.s3.send(new PutObjectCommand({ Bucket: options.bucket, Key: prefix + path, Body: text }));
  };
  const upload = async (folder: string, texts: readonly string[], put = toShared): Promise<void> => {
    for (const [n, text] of texts.entries()) {
      // The storage can be down too.
      const isUploaded = async (): Promise<boolean> => put(`${folder}${n}.csv`, text).then(() => true);
      await waitUntil(`${folder}${n}.csv is uploaded`, isUploaded, 300, 500);
    }
  };

  /** Returns the response body, or null if the outcome is unknown. */
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
      if (answer.status !== 503) wrong.push(`partner ${id}: ${method} ${path} returned ${answer.status}: ${text}`);
      else if (answer.headers.get('retry-after') === null) wrong.push(`partner ${id}: 503 without Retry-After`);
    } catch {
      // A fault killed the API process during the request.
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
    const request: Request = { folder: path, what: { kind: 'merge', files, isInvalid: false }, answer: null };
    const { credentials } = own;
    await sendImport(request, 'POST', { file_path: path, path_type: 1, key_type: 0, compressed: false, credentials });
  };

  const sendRequest = async (operation: (typeof operations)[number]): Promise<void> => {
    const audience = audiences[pick(Math.max(1, audiences.length))];
    if (operation === 'delete') {
      const gone = attributes.filter(() => pick(2) === 0);
      if (gone.length === 0) return;
      const request: Request = { folder: '', what: { kind: 'delete', attributes: gone }, answer: null };
      await sendImport(request, 'DELETE', { key_type: 0, keys: gone.map(String) });
    } else if (operation === 'own') {
      await importFromOwn();
    } else if (operation === 'create' || (operation === 'append' && !audience)) {
      await load('create', null);
    } else if (operation === 'append' && audience) {
      await load('append', audience);
    } else if (operation === 'clear') {
      if (!audience) return;
      const clear = async (): Promise<boolean> => {
        const request: Request = { folder: '', what: { kind: 'clear', audience: audience.name }, answer: null };
        return (await send(request, 'PUT', `${audiencePath}/${audience.id}`)) !== null;
      };
      await waitUntil('a clear is confirmed', clear, 300, 500);
    } else {
      const folder = newFolder();
      const isInvalid = operation === 'invalid';
      const kind = operation === 'replace' ? 'replace' : 'merge';
      const files = isInvalid ? [[]] : several(rows);
      await upload(folder, isInvalid ? ['invalid,1\n'] : files.map(textOf));
      const request: Request = { folder, what: { kind, files, isInvalid }, answer: null };
      await sendImport(request, 'POST', { file_path: folder, key_type: 0, mode: kind, compressed: false });
    }
  };
  return { record, wrong, sendRandomRequest: () => sendRequest(operations[pick(operations.length)] ?? 'merge') };
}

/** A seeded generator of integers below a bound. */
export function pickerOf(seed: number): (most: number) => number {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}
