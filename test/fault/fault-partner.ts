import { PutObjectCommand } from '@aws-sdk/client-s3';
import { queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { audienceClient } from '../acceptance/audience-client.ts';
import { sharedOwnBucket } from '../support/own-bucket.ts';
import { createPartner } from '../support/partners.ts';
import { appendFiles, emptyAudience, type ModelAudience, type ModelFile } from '../support/audience-model.ts';
import type { TestStores } from '../support/stores.ts';
import { applyJob, type ModelRow, type ModelState } from '../support/warehouse-model.ts';
import { newBarePartner, type Wired } from '../support/wired.ts';

// A partner that records its own requests. The auditor compares the record with the stores at the end.

export type SubmittedJob =
  | ({ readonly kind: 'import'; readonly id: number } & ImportEnd)
  | { readonly kind: 'audience'; readonly id: number };

/** The expected import log. For a deletion, only the status is checked. */
export type ImportEnd = {
  readonly status: 2 | 3;
  /** One entry per file, ordered by key. */
  readonly rows: readonly number[] | null;
  readonly unique: number | null;
};

export const deletion: ImportEnd = { status: 2, rows: null, unique: null };
export const invalidFile: ImportEnd = { status: 3, rows: [1], unique: 0 };

export function endOf(files: readonly (readonly ModelRow[])[]): ImportEnd {
  return {
    status: 2,
    rows: files.map((file) => file.length),
    unique: new Set(files.flat().map(({ device }) => device)).size,
  };
}

/** The expected final state of one partner. */
export type Expected = {
  readonly id: number;
  /** In the order of the responses. */
  readonly submitted: SubmittedJob[];
  readonly pairs: ModelState;
  readonly audiences: Map<number, ModelAudience>;
};

export type FaultPartner = Expected & {
  readonly attributes: readonly [number, number, number];
  readonly importFiles: (kind: 'merge' | 'replace', files: readonly (readonly ModelRow[])[]) => Promise<number>;
  /** Submits an import with credentials, which Inlet must delete when the job finishes. */
  readonly importFromOwnBucket: (files: readonly (readonly ModelRow[])[]) => Promise<number>;
  readonly importInvalidFile: () => Promise<number>;
  /** Submits an import whose path matches no file. */
  readonly importNothing: () => Promise<number>;
  readonly deleteAttributes: (attributes: readonly number[]) => Promise<number>;
  readonly createAudience: (files: readonly ModelFile[]) => Promise<number>;
  readonly append: (audienceId: number, files: readonly ModelFile[]) => Promise<void>;
  readonly clear: (audienceId: number) => Promise<void>;
  /** Returns the same partner as a client of another API process. */
  readonly through: (url: string) => FaultPartner;
  /** Returns whether the API has a record of the import. */
  readonly hasImport: (importId: number) => Promise<boolean>;
  readonly waitForImport: (id: number) => Promise<void>;
  readonly waitForAudience: (id: number) => Promise<void>;
};

export async function newFaultPartner(deps: Wired, stores: TestStores, url: string): Promise<FaultPartner> {
  const { id, prefix, apiKey } = await newBarePartner(deps);
  const attribute = async (name: string): Promise<number> =>
    (await deps.attributes.create(id, { name, foreignKeys: [] })).id;
  const put = async (path: string, text: string): Promise<void> => {
    const object = { Bucket: stores.config.INLET_S3_BUCKET, Key: prefix + path, Body: text };
    await deps.s3.send(new PutObjectCommand(object));
  };
  return faultPartnerOf({ id, apiKey, attributes: await threeOf(attribute), put }, url);
}

/** Creates the partner with the CLI of another release. */
export async function newFaultPartnerOf(
  folder: string,
  environment: Readonly<Record<string, string>>,
  url: string,
): Promise<FaultPartner> {
  const { id, apiKey, upload, createAttribute } = await createPartner(environment, folder);
  return faultPartnerOf({ id, apiKey, attributes: await threeOf(createAttribute), put: upload }, url);
}

async function threeOf(make: (name: string) => Promise<number>): Promise<FaultPartner['attributes']> {
  return [await make('a'), await make('b'), await make('c')];
}

type Identity = Pick<FaultPartner, 'id' | 'attributes'> & {
  readonly apiKey: string;
  readonly put: (path: string, text: string) => Promise<void>;
};

function faultPartnerOf({ id, apiKey, attributes, put }: Identity, url: string): FaultPartner {
  const submitted: SubmittedJob[] = [];
  const pairs: ModelState = new Set();
  const audiences = new Map<number, ModelAudience>();
  let folders = 0;
  /** Uploads to a new folder per request. */
  const upload = async (texts: readonly string[]): Promise<string> => {
    const folder = `${folders++}/`;
    for (const [n, text] of texts.entries()) await put(`${folder}${n}.csv`, text);
    return folder;
  };
  const note = (audienceId: number): void => void submitted.push({ kind: 'audience', id: audienceId });
  const uploadMembers = async (files: readonly ModelFile[]): Promise<[string, Map<string, ModelFile>]> => {
    const folder = await upload(files.map(({ rows }) => rows.map((row) => `${row.join(',')}\n`).join('')));
    return [folder, new Map(files.map((file, n) => [`${folder}${n}.csv`, file]))];
  };

  const atApi = (address: string): FaultPartner => {
    const api = apiClient(address, apiKey);
    const audienceApi = audienceClient(address, apiKey);
    const queue = async (body: object, end: ImportEnd): Promise<number> => {
      const importId = await api.queue({ key_type: 0, compressed: false, ...body });
      submitted.push({ kind: 'import', id: importId, ...end });
      return importId;
    };
    return {
      id,
      attributes,
      submitted,
      through: atApi,
      pairs,
      audiences,
      importFiles: async (kind, files) => {
        const importId = await queue({ file_path: await upload(files.map(textOf)), mode: kind }, endOf(files));
        applyJob(pairs, { kind, files });
        return importId;
      },
      importFromOwnBucket: async (files) => {
        const own = await sharedOwnBucket();
        const folder = `${id}/${folders++}/`;
        for (const [n, file] of files.entries()) await own.upload(`${folder}${n}.csv`, textOf(file));
        const { credentials } = own;
        const body = { file_path: `s3://${own.bucket}/${folder}`, path_type: 1, credentials };
        const importId = await queue(body, endOf(files));
        applyJob(pairs, { kind: 'merge', files });
        return importId;
      },
      importInvalidFile: async () => queue({ file_path: await upload(['invalid,1\n']) }, invalidFile),
      importNothing: async () => queue({ file_path: await upload([]) }, { status: 3, rows: [], unique: 0 }),
      deleteAttributes: async (gone) => {
        const body = JSON.stringify({ key_type: 0, keys: gone.map(String) });
        const answer = await api.request('/v1/marketplace/import', { method: 'DELETE', body });
        const { import_log_id } = queuedSchema.parse(await answer.json());
        submitted.push({ kind: 'import', id: import_log_id, ...deletion });
        applyJob(pairs, { kind: 'delete', attributes: gone });
        return import_log_id;
      },
      createAudience: async (files) => {
        const [folder, uploaded] = await uploadMembers(files);
        const { audienceId } = await audienceApi.create(`Audience ${audiences.size}`, folder);
        const model = emptyAudience();
        appendFiles(model, uploaded, folder);
        audiences.set(audienceId, model);
        note(audienceId);
        return audienceId;
      },
      append: async (audienceId, files) => {
        const [folder, uploaded] = await uploadMembers(files);
        await audienceApi.append(audienceId, folder);
        const model = audiences.get(audienceId);
        if (model) appendFiles(model, uploaded, folder);
        note(audienceId);
      },
      clear: async (audienceId) => {
        await audienceApi.clear(audienceId);
        audiences.set(audienceId, emptyAudience());
      },
      hasImport: async (importId) => (await api.request(`/v1/marketplace/import/${importId}`)).status !== 404,
      waitForImport: async (importId) => void (await api.waitForEnd(importId)),
      waitForAudience: async (audienceId) => void (await audienceApi.settled(audienceId)),
    };
  };
  return atApi(url);
}

export function textOf(rows: readonly ModelRow[]): string {
  return rows
    .map(({ device, isDelete, attributes }) => `${device},1,,${isDelete ? 1 : 0},${attributes.join('|')}\n`)
    .join('');
}
