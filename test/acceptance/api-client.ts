import {
  importLogListSchema,
  importLogSchema,
  queuedSchema,
  type ImportLogRecord,
} from '../../src/adapters/http/records/import-log.ts';
import { problemSchema, type Problem } from '../../src/adapters/http/records/problem.ts';
import { waitUntil } from '../support/wait-until.ts';

// A client that uses only HTTP and validates every response against the contract.

export type ApiClient = {
  readonly queue: (body: object) => Promise<number>;
  readonly expectProblem: (body: unknown) => Promise<Problem>;
  readonly get: (importLogId: number) => Promise<ImportLogRecord>;
  readonly list: () => Promise<ImportLogRecord[]>;
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  readonly waitForEnd: (importLogId: number, seconds?: number) => Promise<ImportLogRecord>;
  /** Follows `Link: rel="next"` from a path and returns the response of every page. */
  readonly follow: (path: string, init?: RequestInit) => Promise<Response[]>;
};

export function apiClient(url: string, apiKey: string): ApiClient {
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...headersOf(init) } });
  const get = async (importLogId: number): Promise<ImportLogRecord> =>
    importLogSchema.strict().parse(await expectStatus(200, await request(`/v1/marketplace/import/${importLogId}`)));
  const post = (body: unknown): Promise<Response> =>
    request('/v1/marketplace/import', { method: 'POST', body: JSON.stringify(body) });
  return {
    request,
    get,
    follow: async (path, init) => {
      const answers: Response[] = [];
      for (let next: string | undefined = path; next !== undefined;) {
        const answer = await request(next, init);
        if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${await answer.text()}`);
        answers.push(answer);
        next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      }
      return answers;
    },
    queue: async (body) => {
      const answer = await post(body);
      const { import_log_id } = queuedSchema.strict().parse(await expectStatus(202, answer));
      if (answer.headers.get('location') !== `/v1/marketplace/import/${import_log_id}`)
        throw new Error('wrong Location');
      return import_log_id;
    },
    expectProblem: async (body) => problemSchema.strict().parse(await readProblem(await post(body))),
    list: async () => importLogListSchema.parse(await expectStatus(200, await request('/v1/marketplace/import'))),
    waitForEnd: async (importLogId, seconds = 120) => {
      let log: ImportLogRecord | undefined;
      await waitUntil(
        `import ${importLogId} has ended`,
        async () => {
          log = await get(importLogId);
          return log.status >= 2;
        },
        seconds,
      );
      if (!log) throw new Error('no record');
      return log;
    },
  };
}

function headersOf(init: RequestInit): Record<string, string> {
  const given = Object.fromEntries(new Headers(init.headers));
  return init.body === undefined ? given : { 'content-type': 'application/json', ...given };
}

export async function readProblem(answer: Response): Promise<unknown> {
  if (answer.headers.get('content-type') !== 'application/problem+json') throw new Error('no problem+json');
  return answer.json();
}

async function expectStatus(status: number, answer: Response): Promise<unknown> {
  if (answer.status !== status) throw new Error(`HTTP ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
