import { clickhouseAudienceProfiler } from '../adapters/clickhouse/composition/audience-profiler.ts';
import type { Engine } from '../adapters/clickhouse/connect.ts';
import { postgresCompositionStore } from '../adapters/postgres/composition-store.ts';
import type { Database } from '../adapters/postgres/db/tables.ts';
import { reportKey } from '../adapters/vault/keys.ts';
import { cosSquaredNoise } from '../domain/composition/noise.ts';
import type { Log } from '../ports/observability.ts';
import { compositionComputer } from '../usecases/report/compute-composition.ts';
import type { CompositionDeps } from '../usecases/report/get-composition.ts';
import { type Config, protectionOf } from './config.ts';
import type { Observation } from './observation/observe.ts';

/** A request may take 30 s; the caller gets an answer well before. */
const patienceMs = 20_000;

export function wireComposition(parts: {
  readonly config: Config;
  readonly db: Database;
  readonly engine: Engine;
  readonly log: Log;
  readonly observed: Observation['ofPort'];
}): CompositionDeps {
  const { config, log } = parts;
  const key = reportKey(config.INLET_REPORT_KEY, config.INLET_SEALING_KEYS);
  const compositions = parts.observed('postgres', 'compositions', postgresCompositionStore(parts.db));
  const counter = clickhouseAudienceProfiler(parts.engine, key.fingerprintKey);
  const profiler = parts.observed('clickhouse', 'profiler', counter);
  const protection = protectionOf(config);
  return {
    compositions,
    computer: compositionComputer({ compositions, profiler }),
    protection,
    noise: cosSquaredNoise(key.draw, protection.noise),
    patienceMs,
    log,
  };
}
