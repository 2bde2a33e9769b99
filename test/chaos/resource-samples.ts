import type { Pool } from 'pg';
import { cpuOfProcess } from '../support/cpu-time.ts';
import { memoryOfProcess } from '../support/memory.ts';

// Samples of what the processes and the partners use.

export type SampledProcess = { readonly name: string; readonly pid: number; readonly limitBytes: number };

export type ProcessSamples = {
  /** The highest resident set size seen so far, in bytes, by process name. */
  readonly most: ReadonlyMap<string, number>;
  readonly sample: () => void;
  /** Returns the CPU seconds of each process since the previous call. */
  readonly takeCpu: () => Map<string, number>;
};

export function sampleProcesses(processes: readonly SampledProcess[]): ProcessSamples {
  const most = new Map<string, number>();
  const before = new Map(processes.map(({ name, pid }) => [name, cpuOfProcess(pid)]));
  return {
    most,
    sample: () => {
      for (const { name, pid } of processes) most.set(name, Math.max(most.get(name) ?? 0, memoryOfProcess(pid).now));
    },
    takeCpu: () =>
      new Map(
        processes.map(({ name, pid }) => {
          const now = cpuOfProcess(pid);
          const used = now - (before.get(name) ?? 0);
          before.set(name, now);
          return [name, used];
        }),
      ),
  };
}

type Held = { readonly queue: string; readonly group: string; readonly active: number; readonly waiting: number };

export type TokenSamples = {
  readonly sample: () => Promise<void>;
  /** Returns the average and highest number of held and waiting tokens since the previous call, by queue and group. */
  readonly take: () => string[];
};

/** Samples the tokens that each group of partners holds or waits for. A held token occupies a worker slot. */
export function sampleTokens(client: Pool, groupOf: (partnerId: number) => string): TokenSamples {
  let samples: (readonly Held[])[] = [];
  return {
    sample: async () => {
      const { rows } = await client.query<{ queue: string; partner: string; active: number; waiting: number }>(
        `SELECT name AS queue, coalesce(f.partner_id::text, t.singleton_key) AS partner,
           count(*) FILTER (WHERE state = 'active')::int AS active,
           count(*) FILTER (WHERE state < 'active' AND start_after <= now())::int AS waiting
         FROM pgboss.job t LEFT JOIN job_file f ON t.name = 'file' AND f.id = t.singleton_key::bigint
         WHERE name IN ('lane', 'file') AND policy = 'exclusive' AND state <= 'active'
         GROUP BY 1, 2`,
      );
      samples.push(rows.map(({ partner, ...row }) => ({ ...row, group: groupOf(Number(partner)) })));
    },
    take: () => {
      const taken = samples;
      samples = [];
      const names = new Set(taken.flat().map(({ queue, group }) => `${queue} ${group}`));
      return [...names].toSorted().map((name) => {
        const sums = taken.map((sample) =>
          sample
            .filter(({ queue, group }) => `${queue} ${group}` === name)
            .reduce((sum, { active, waiting }) => ({ active: sum.active + active, waiting: sum.waiting + waiting }), {
              active: 0,
              waiting: 0,
            }),
        );
        const describe = (of: 'active' | 'waiting'): string => {
          const values = sums.map((sum) => sum[of]);
          const average = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
          return `${average.toFixed(1)} (at most ${Math.max(...values)})`;
        };
        return `${name}: held ${describe('active')}, waiting ${describe('waiting')}`;
      });
    },
  };
}

export type TokenTimes = {
  readonly queue: string;
  readonly waited: number;
  readonly held: number;
  readonly tokens: number;
};

/** Returns the 95th percentiles, in ms, of how long the partners' tokens waited for a slot and held it. */
export async function selectTokenTimes(
  client: Pool,
  partnerIds: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<TokenTimes[]> {
  const { rows } = await client.query<TokenTimes>(
    `SELECT name AS queue, count(*)::int AS tokens,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM started_on - greatest(created_on, start_after)) * 1000)::int AS waited,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM completed_on - started_on) * 1000)::int AS held
     FROM pgboss.job t LEFT JOIN job_file f ON t.name = 'file' AND f.id = t.singleton_key::bigint
     WHERE name IN ('lane', 'file') AND state = 'completed' AND created_on BETWEEN to_timestamp($2) AND to_timestamp($3)
       AND coalesce(f.partner_id, t.singleton_key::bigint) = ANY($1)
     GROUP BY name ORDER BY name`,
    [partnerIds, from / 1000, to / 1000],
  );
  return rows;
}
