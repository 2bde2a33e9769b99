import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { requirePublished } from './published-api.ts';
import { zipOf } from './zip.ts';

// The counterpart of `inlet privacy drop`: a server that behaves as specified in the published description of DROP's
// data broker API (version 1.2.0). It keeps everything in memory and records every answer to every item.

export type DropItem = { readonly id: string; readonly hash: string };
export type WithdrawnItem = DropItem & { readonly listType: string };

/** The lists of an archive. A selected list without new items is an empty list. */
export type DropBatch = {
  readonly lists: Readonly<Record<string, readonly DropItem[]>>;
  readonly removed?: readonly WithdrawnItem[];
};

type Delivered = {
  readonly prefix: string;
  readonly batch: DropBatch;
  readonly archive: Buffer;
  /** The files that were accepted, by name. */
  readonly accepted: Set<string>;
  readonly amended: Set<string>;
  /** Accepted files whose rows are not validated yet. */
  readonly queued: { readonly name: string; readonly content: string }[];
  /** All statuses that each item was given, in order. */
  readonly answers: Map<string, string[]>;
  readonly problems: string[];
  isComplete: boolean;
};

export type DropServer = Awaited<ReturnType<typeof startDropServer>>;

type Reply = {
  readonly status: number;
  readonly body: object | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the response does not come from DROP itself. */
  readonly isForeign?: true;
};
type Behavior = {
  /** The number of responses that say that the archive is being prepared, before it is ready. */
  preparations: number;
  isClosed: boolean;
  /** The number of requests until the rows of accepted files are validated. */
  validationRequests: number;
  /** Returns true to end the connection after the request took effect. */
  losesResponse: () => boolean;
  /** Archive headers to send instead of DROP's. */
  archiveHeaders: Readonly<Record<string, string>> | null;
  /** Returns a response to send instead of handling the request, or null. */
  fault: ((path: string) => Reply | null) | null;
};

const uploadName = /^(.+?)(?:_([A-Za-z0-9]{1,10}))?\.csv$/;

export async function startDropServer(apiKey: string, brokerId = '4821') {
  const pending: DropBatch[] = [];
  const delivered: Delivered[] = [];
  const requests: { readonly method: string; readonly path: string; readonly status: number }[] = [];
  const behavior: Behavior = {
    preparations: 0,
    isClosed: false,
    validationRequests: 0,
    losesResponse: () => false,
    archiveHeaders: null,
    fault: null,
  };
  let [preparations, waited, day] = [0, 0, 0];
  const active = (): Delivered | undefined => delivered.find(({ isComplete }) => !isComplete);

  const validate = (): void => {
    const of = active();
    if (!of) return;
    for (const { name, content } of of.queued.splice(0)) validateRows(of, name, content);
    const items = Object.values(of.batch.lists).flat();
    of.isComplete = items.every(({ id }) => of.answers.has(id));
  };

  const download = (): Reply => {
    if (active()) return problem(409, 'Complete the current batch or contact DROP support if a re-download is needed.');
    const [batch] = pending;
    if (!batch)
      return problem(
        200,
        'No new consumer request data or removed identifiers are available since your last completed download.',
      );
    if (preparations < behavior.preparations) {
      preparations += 1;
      const reply = problem(
        202,
        'No download package is available yet. Your request was received, and the package is being created. Call GET /data/download again later.',
      );
      return { ...reply, headers: { 'retry-after': '1' } };
    }
    preparations = 0;
    pending.shift();
    day += 1;
    const date = new Date(Date.UTC(2026, 7, day)).toISOString().slice(0, 10).replaceAll('-', '');
    const prefix = `${date}_${brokerId}`;
    const archive = zipOf(filesOf(prefix, batch));
    const set = { accepted: new Set<string>(), amended: new Set<string>(), answers: new Map<string, string[]>() };
    // A batch without items, for example with only withdrawn consumers, needs no response.
    const isComplete = Object.values(batch.lists).every((list) => list.length === 0);
    delivered.push({ prefix, batch, archive, ...set, queued: [], problems: [], isComplete });
    const { archiveHeaders: headers } = behavior;
    return { ...archiveReply(prefix, archive), ...(headers && { headers, isForeign: true }) };
  };

  const receive = async (request: IncomingMessage, kind: 'upload' | 'amend'): Promise<Reply> => {
    const of = kind === 'upload' ? active() : delivered.at(-1);
    const files = await filesIn(request);
    if (!of && kind === 'upload')
      return problem(
        409,
        'No active download is waiting for responses. Use GET /data/download to request or download a new ZIP file.',
      );
    if (!of || (kind === 'amend' && !of.isComplete))
      return problem(409, 'The amend request cannot be processed in the current state.');
    const accepted: object[] = [];
    const rejected: object[] = [];
    for (const { name, content } of files) {
      const reason = rejectionOf(of, kind, name, content);
      if (reason !== null) {
        rejected.push({ fileName: name, message: reason });
        continue;
      }
      (kind === 'upload' ? of.accepted : of.amended).add(name);
      accepted.push({ fileName: name, fileSizeBytes: Buffer.byteLength(content) });
      if (kind === 'upload') of.queued.push({ name, content });
      else validateRows(of, name, content);
      waited = 0;
    }
    if (behavior.validationRequests === 0) validate();
    const message =
      accepted.length === 0
        ? 'Upload request is invalid. Fix the rejected files and try again.'
        : 'Upload received. Accepted files were queued for validation.';
    const counts = { acceptedCount: accepted.length, rejectedCount: rejected.length };
    return { status: accepted.length === 0 ? 400 : 202, body: { message, ...counts, accepted, rejected } };
  };

  const answer = async (request: IncomingMessage): Promise<Reply> => {
    if (request.headers['x-api-key'] !== apiKey)
      return problem(401, 'API key is missing or invalid. Fix or regenerate the API key and try again.');
    const fault = behavior.fault?.(request.url ?? '');
    // A proxy between client and server can answer with anything.
    if (fault) return { ...fault, isForeign: true };
    if (behavior.isClosed) return problem(500, 'The system is temporarily unavailable. Try again later.');
    waited += 1;
    if (waited > behavior.validationRequests) validate();
    if (request.method === 'GET' && request.url === '/data/download') return download();
    if (request.method === 'POST' && request.url === '/data/upload') return receive(request, 'upload');
    if (request.method === 'POST' && request.url === '/data/amend') return receive(request, 'amend');
    return problem(404, 'The requested endpoint was not found. Check the URL/path and try again.');
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reply = await answer(request);
    const { status, body, headers = {} } = reply;
    if (!reply.isForeign) requirePublished(`${request.method} ${request.url}`, { status, body, headers });
    requests.push({ method: request.method ?? '', path: request.url ?? '', status: reply.status });
    // Otherwise, the unread rest of a request would be taken for the next request.
    request.resume();
    if (behavior.losesResponse()) request.socket.destroy();
    else send(response, reply);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    behavior,
    requests,
    delivered: delivered as readonly Delivered[],
    add: (batch: DropBatch): void => void pending.push(batch),
    validate,
    /** Returns the archive that DROP support sends to a broker that has lost it. */
    supportArchive: (): { readonly name: string; readonly content: Buffer } => {
      const last = delivered.at(-1);
      if (!last) throw new Error('nothing was delivered');
      return { name: `${last.prefix}_DROP.zip`, content: last.archive };
    },
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function problem(status: number, message: string): Reply {
  return { status, body: { message } };
}

function archiveReply(prefix: string, archive: Buffer): Reply {
  const name = `attachment; filename="${prefix}_DROP.zip"`;
  return {
    status: 200,
    body: archive,
    headers: { 'content-type': 'application/zip', 'content-disposition': name },
  };
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  const content = Buffer.isBuffer(body) ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(content);
}

function filesOf(prefix: string, { lists, removed = [] }: DropBatch): Map<string, string> {
  const files = new Map<string, string>();
  for (const [list, items] of Object.entries(lists))
    files.set(`${prefix}_${list}.csv`, `ID,Hash\n${items.map(({ id, hash }) => `${id},${hash}\n`).join('')}`);
  const lines = removed.map(({ id, hash, listType }) => `${id},${hash},${listType}\n`);
  if (removed.length > 0) files.set(`${prefix}_Removed.csv`, `ID,Hash,ListType\n${lines.join('')}`);
  return files;
}

async function filesIn(request: IncomingMessage): Promise<{ readonly name: string; readonly content: string }[]> {
  const body = Buffer.concat(await request.toArray());
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(body, { headers }).formData();
  const files: { name: string; content: string }[] = [];
  for (const file of form.getAll('files'))
    if (typeof file !== 'string') files.push({ name: file.name, content: await file.text() });
  return files;
}

function rejectionOf(of: Delivered, kind: 'upload' | 'amend', name: string, content: string): string | null {
  if (!name.endsWith('.csv')) return 'Only CSV files are accepted.';
  if (listOf(of, name) === null) return 'The file name does not match a downloaded file.';
  const earlier = kind === 'upload' ? of.accepted : of.amended;
  if (earlier.has(name))
    return 'A file with this name was already uploaded for the current download. Use a unique suffix and try again';
  if (!content.startsWith('Id,Status\n')) return 'Invalid CSV header. Expected: Id,Status.';
  return null;
}

function listOf({ prefix, batch }: Delivered, name: string): readonly DropItem[] | null {
  for (const [list, items] of Object.entries(batch.lists)) {
    const [, base] = uploadName.exec(name) ?? [];
    if (name === `${prefix}_${list}.csv` || base === `${prefix}_${list}`) return items;
  }
  return null;
}

function validateRows(of: Delivered, name: string, content: string): void {
  const known = new Set(listOf(of, name)?.map(({ id }) => id));
  for (const line of content.trimEnd().split('\n').slice(1)) {
    const [id = '', status = ''] = line.split(',');
    if (!known.has(id)) of.problems.push(`${name}: ${id} is not an item of this list`);
    else if (!['2', '3', '4', '5'].includes(status)) of.problems.push(`${name}: ${status} is not a status`);
    else of.answers.set(id, [...(of.answers.get(id) ?? []), status]);
  }
}
