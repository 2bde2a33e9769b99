import * as fc from 'fast-check';
import { z } from 'zod';
import { memoryOfProcess } from '../support/memory.ts';
import type { Answer } from '../support/openapi/check-answer.ts';
import { operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { type Secrets, mayWait } from './arbitrary-headers.ts';
import { arbitraryRequest, madeBefore } from './arbitrary-request.ts';
import { responseChecker, parse } from './check-response.ts';
import { type FuzzedRequest, fuzzClient } from './fuzzed-request.ts';

export type Figures = {
  readonly seed: number;
  readonly requests: number;
  readonly seconds: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** The number of requests per operation and the number of successful requests. */
  readonly operations: Readonly<Record<string, { asked: number; done: number }>>;
  /** The memory of the process after each tenth of the requests and at the end. */
  readonly megabytes: readonly number[];
  /** The slowest response time for a request without `Prefer: wait`. */
  readonly slowestSeconds: number;
  /** At most one per task. */
  readonly failures: readonly string[];
};

/** The run ends after this number of requests or seconds. */
export type Wanted = { readonly requests: number; readonly seconds: number; readonly seed: number };

type Target = { readonly url: string; readonly pid: number; readonly secrets: Secrets };

/** The number of concurrent tasks. Each task sends sequences of requests, one after another. */
const tasks = 8;
const sequencesAtOnce = 5;
/**
 * The limit for a request without `Prefer: wait`. It allows for busy machines and for the 2 s wait on an idempotency
 * key in use.
 */
const longestSeconds = 10;
const madeSchema = z.union([
  z.object({ import_log_id: z.int() }).transform(({ import_log_id }) => import_log_id),
  z.object({ audience_id: z.int() }).transform(({ audience_id }) => audience_id),
]);

/**
 * Sends random requests that are generated from the OpenAPI document and validates every response against the document.
 */
export async function fuzz({ url, pid, secrets }: Target, wanted: Wanted): Promise<Figures> {
  const document = parseOpenApi(readOpenApiText());
  const { findViolations, operationOf } = responseChecker(document);
  const operations = operationsOf(document);
  const counted: Record<string, { asked: number; done: number }> = {};
  for (const { operationId } of operations) counted[operationId] = { asked: 0, done: 0 };
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  const start = Date.now();
  let requests = 0;
  let slowestSeconds = 0;
  const aTenth = Math.ceil(wanted.requests / 10);
  const megabytes: number[] = [];
  const sampleMemory = (): void => void megabytes.push(Math.round(memoryOfProcess(pid).now / 1e6));

  const count = (request: FuzzedRequest, { status }: Answer): void => {
    requests += 1;
    statuses[status] = (statuses[status] ?? 0) + 1;
    const entry = counted[operationOf(request)?.operationId ?? ''];
    if (entry) entry.asked += 1;
    if (entry && status < 300) entry.done += 1;
    if (requests % aTenth === 0) sampleMemory();
  };

  const hasMore = (): boolean => requests < wanted.requests && Date.now() - start < wanted.seconds * 1000;

  async function runTask(task: number): Promise<void> {
    const { ask, close } = fuzzClient(url);
    const sequence = fc.array(arbitraryRequest(document, operations, secrets), { minLength: 1, maxLength: 7 });
    const property = fc.asyncProperty(sequence, async (steps) => {
      let made = '1';
      for (const step of steps) {
        const request = { ...step, path: step.path.replace(madeBefore, made) };
        const asked = Date.now();
        const answer = await ask(request);
        const seconds = mayWait(request.headers) ? 0 : (Date.now() - asked) / 1000;
        slowestSeconds = Math.max(slowestSeconds, seconds);
        count(request, answer);
        const violations = findViolations(request, answer);
        if (seconds > longestSeconds) violations.push(`responded after ${seconds} s`);
        if (violations.length > 0) throw new Error(`${shown(request)}: ${violations.join('; ')}`);
        made = String(madeSchema.safeParse(parse(answer.text)).data ?? made);
      }
    });
    for (let round = 0; hasMore() && failures.length === 0; round += 1) {
      const seed = wanted.seed + task * 1_000_000 + round;
      const found = await fc.check(property, { seed, numRuns: sequencesAtOnce });
      if (found.failed)
        failures.push(`seed ${found.seed}, path ${found.counterexamplePath}: ${String(found.errorInstance)}`);
    }
    close();
  }

  await Promise.all(Array.from({ length: tasks }, (_, task) => runTask(task)));
  // After a failure, the process may have exited.
  if (failures.length === 0) sampleMemory();
  return {
    seed: wanted.seed,
    requests,
    seconds: Math.round((Date.now() - start) / 100) / 10,
    statuses,
    operations: counted,
    megabytes,
    slowestSeconds,
    failures,
  };
}

/** Omits the headers, because they contain keys. */
function shown({ method, path, body }: FuzzedRequest): string {
  return `${method} ${path} ${body ? Buffer.from(body).toString('latin1').slice(0, 300) : 'without a body'}`;
}
