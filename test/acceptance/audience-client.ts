import {
  audienceDetailsSchema,
  audienceSchema,
  createdAudienceSchema,
  type AudienceDetailsRecord,
  type AudienceRecord,
} from '../../src/adapters/http/records/audience.ts';
import { historyListSchema, queuedAppendSchema } from '../../src/adapters/http/records/audience-history.ts';
import { loadErrorListSchema, type LoadErrorRecord } from '../../src/adapters/http/records/load-error.ts';
import { problemSchema, type Problem } from '../../src/adapters/http/records/problem.ts';
import { z } from 'zod';
import { waitUntil } from '../support/wait-until.ts';
import { apiClient, readProblem } from './api-client.ts';

// A client that uses only HTTP and validates every response against the contract.

type HistoryEntry = z.infer<typeof historyListSchema>[number];

export type AudienceDetails = AudienceDetailsRecord;

export type AudienceClient = {
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  readonly create: (name: string, filePath: string) => Promise<{ audienceId: number; segmentId: number }>;
  readonly append: (audienceId: number, filePath: string) => Promise<void>;
  readonly clear: (audienceId: number) => Promise<void>;
  readonly dismiss: (audienceId: number, fileId: string) => Promise<void>;
  readonly rename: (audienceId: number, name: string) => Promise<void>;
  readonly remove: (audienceId: number) => Promise<void>;
  readonly history: (audienceId: number, query?: string) => Promise<HistoryEntry[]>;
  /** Returns false if nothing was left to cancel. */
  readonly cancel: (audienceId: number, appendId: number) => Promise<boolean>;
  /** Whether retrying this append's failed files would load anything. */
  readonly hasFailedFiles: (audienceId: number, appendId: number) => Promise<boolean>;
  /** Returns the ID of the new append. */
  readonly retry: (audienceId: number, appendId: number, files?: 'all' | 'failed') => Promise<number>;
  readonly get: (audienceId: number) => Promise<AudienceDetails>;
  readonly list: (query?: string) => Promise<AudienceRecord[]>;
  /** Returns the first page of file failures and rejected rows. */
  readonly errors: (audienceId: number, query?: string) => Promise<LoadErrorRecord[]>;
  /** Sends a request that must be rejected, and returns the problem in the response. */
  readonly expectProblem: (method: string, path: string, body?: unknown) => Promise<Problem>;
  /** Waits until no file in the audience is waiting or loading. */
  readonly settled: (audienceId: number, seconds?: number) => Promise<AudienceDetails>;
};

export const audiencePath = '/v2/firstparty/audience';

export function audienceClient(url: string, apiKey: string, userToken?: string): AudienceClient {
  const { request: send } = apiClient(url, apiKey);
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    send(path, {
      ...init,
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        ...(userToken === undefined ? {} : { 'x-user-token': userToken }),
      },
    });
  const json = (method: string, path: string, body: unknown): Promise<Response> =>
    request(path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const get = async (audienceId: number): Promise<AudienceDetails> =>
    audienceDetailsSchema.strict().parse(await bodyOf(200, await request(`${audiencePath}/${audienceId}`)));
  return {
    request,
    get,
    create: async (name, filePath) => {
      const answer = await json('POST', audiencePath, { name, file_path: filePath });
      const made = createdAudienceSchema.strict().parse(await bodyOf(201, answer));
      if (answer.headers.get('location') !== `${audiencePath}/${made.audience_id}`) throw new Error('wrong Location');
      return { audienceId: made.audience_id, segmentId: made.default_warehouse_segment_id };
    },
    append: async (audienceId, filePath) =>
      expectNoContent(await json('PATCH', `${audiencePath}/${audienceId}`, { file_path: filePath })),
    dismiss: async (audienceId, fileId) =>
      expectNoContent(await json('DELETE', `${audiencePath}/${audienceId}/files/${fileId}`, undefined)),
    rename: async (audienceId, name) => expectNoContent(await json('PATCH', `${audiencePath}/${audienceId}`, { name })),
    remove: async (audienceId) => expectNoContent(await json('DELETE', `${audiencePath}/${audienceId}`, undefined)),
    history: async (audienceId, query = '') =>
      historyListSchema.parse(await bodyOf(200, await request(`${audiencePath}/${audienceId}/history${query}`))),
    cancel: async (audienceId, appendId) => {
      const answer = await json('POST', `${audiencePath}/${audienceId}/appends/${appendId}/cancel`, {});
      if (answer.status === 422) {
        const { code } = problemSchema.parse(await readProblem(answer));
        if (code === 'append_not_cancelable') return false;
      }
      await expectNoContent(answer);
      return true;
    },
    hasFailedFiles: async (audienceId, appendId) => {
      const entries = (await get(audienceId)).file.filter((entry) => entry.append_id === appendId);
      return entries.some(({ status, dismissed_at }) => status === 3 && dismissed_at === null);
    },
    retry: async (audienceId, appendId, files) => {
      const body = files === undefined ? {} : { files };
      const answer = await json('POST', `${audiencePath}/${audienceId}/appends/${appendId}/retry`, body);
      return queuedAppendSchema.parse(await bodyOf(202, answer)).append_id;
    },
    clear: async (audienceId) => expectNoContent(await json('PUT', `${audiencePath}/${audienceId}`, undefined)),
    list: async (query = '') =>
      z.array(audienceSchema.strict()).parse(await bodyOf(200, await request(audiencePath + query))),
    errors: async (audienceId, query = '') =>
      loadErrorListSchema.parse(await bodyOf(200, await request(`${audiencePath}/${audienceId}/errors${query}`))),
    expectProblem: async (method, path, body) =>
      problemSchema.strict().parse(await readProblem(await json(method, path, body))),
    settled: async (audienceId, seconds = 120) => {
      let details: AudienceDetails | undefined;
      await waitUntil(
        `audience ${audienceId} is settled`,
        async () => {
          details = await get(audienceId);
          return details.status >= 2;
        },
        seconds,
      );
      if (!details) throw new Error('no record');
      return details;
    },
  };
}

async function bodyOf(status: number, answer: Response): Promise<unknown> {
  if (answer.status !== status) throw new Error(`HTTP ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

async function expectNoContent(answer: Response): Promise<void> {
  const text = await answer.text();
  if (answer.status !== 204 || text !== '') throw new Error(`HTTP ${answer.status}: ${text}`);
}
