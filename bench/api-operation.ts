import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { createPartner, type TestPartner } from '../test/support/partners.ts';
import { stopProcess } from '../test/support/running-service.ts';
import { withDatabase } from '../test/support/stores.ts';
import { alternate, median, type Bench } from './bench.ts';
import { sendLoad, type HttpFigures } from './http-load.ts';
import { scaled } from './scale.ts';
import { withService, type Running } from './service.ts';

const imports = '/v1/marketplace/import';
const connections = 200;
const body = JSON.stringify({ file_path: 'delivery/2026-11-16/one.csv', key_type: 1 });

/** Compares one API operation with a bare program that runs the same statements. */
export function apiOperationBench(operation: 'POST' | 'GET', about: Pick<Bench, 'title' | 'compares'>): Bench {
  return {
    ...about,
    better: 'higher',
    goal: 0.7,
    run: async (printLine) =>
      withService('one', (running) => compare(operation, running, printLine), { INLET_MAX_OPEN_JOBS: '100000000' }),
  };
}

async function compare(operation: 'POST' | 'GET', running: Running, printLine: (text: string) => void) {
  const { service, partner, stores } = running;
  // The queued jobs must not run during the measurement.
  await stopProcess(service.worker);
  const other = await createPartner(stores.environment);
  return withBareApi(running, other.id, async (bareUrl) => {
    const requests = Math.max(connections, scaled(operation === 'GET' ? 20_000 : 5_000));
    const figures = { inlet: new Array<HttpFigures>(), yardstick: new Array<HttpFigures>() };
    const measure = async (side: 'inlet' | 'yardstick', round: number): Promise<number> => {
      const url = side === 'inlet' ? service.url : bareUrl;
      const owner = side === 'inlet' ? partner : other;
      await deleteJobs(running, [partner.id, other.id]);
      const path = operation === 'GET' ? `${imports}/${await queueOne(url, owner)}` : imports;
      const measured = await sendLoad({
        url: url + path,
        method: operation,
        headers: headersOf(owner),
        ...(operation === 'GET' ? {} : { body }),
        connections,
        requests,
        status: operation === 'GET' ? 200 : 202,
      });
      if (round > 0) figures[side].push(measured);
      return measured.seconds;
    };
    const pairs = await alternate(5, printLine, {
      inlet: (round) => measure('inlet', round),
      yardstick: (round) => measure('yardstick', round),
    });
    const notes = (['inlet', 'yardstick'] as const).map((side) => noteOf(side, figures[side], requests));
    return { pairs, rows: requests, notes };
  });
}

function headersOf({ apiKey }: TestPartner): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
}

async function queueOne(url: string, owner: TestPartner): Promise<string> {
  const response = await fetch(url + imports, { method: 'POST', headers: headersOf(owner), body });
  return response.headers.get('location')?.split('/').at(-1) ?? '';
}

/** Deletes all open jobs before each round, because queueing a job counts the open jobs. */
async function deleteJobs({ stores }: Running, partnerIds: readonly number[]): Promise<void> {
  await withDatabase(stores, async (client) => {
    await client.query('DELETE FROM import_log WHERE partner_id = ANY ($1)', [partnerIds]);
    await client.query('DELETE FROM job WHERE partner_id = ANY ($1)', [partnerIds]);
    await client.query('VACUUM ANALYZE job, import_log, partner');
  });
}

async function withBareApi<T>({ stores }: Running, partnerId: number, run: (url: string) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ['bench/yardsticks/bare-api.ts'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify({ postgresUrl: stores.config.INLET_POSTGRES_URL.reveal(), partnerId }));
  try {
    const [url] = z.tuple([z.url()]).parse(await once(createInterface(child.stdout), 'line'));
    return await run(url);
  } finally {
    await stopProcess(child);
  }
}

function noteOf(side: string, figures: readonly HttpFigures[], requests: number): string {
  const middle = (of: (one: HttpFigures) => number): number => median(figures.map(of));
  const perSecond = Math.round(middle(({ seconds }) => requests / seconds)).toLocaleString('en');
  const [p50, p99] = [middle(({ p50: one }) => one), middle(({ p99: one }) => one)].map((ms) => ms.toFixed(0));
  return `${side}: ${perSecond} requests per second over ${connections} connections, p50 ${p50} ms, p99 ${p99} ms`;
}
