import { writeFile } from 'node:fs/promises';
import { createLogger } from '../src/entry/logging.ts';
import { migrate } from '../src/entry/migrate.ts';
import { committedDumps } from './schema/committed-dumps.ts';
import { dumpClickhouse } from './schema/dump-clickhouse.ts';
import { dumpPostgres } from './schema/dump-postgres.ts';
import { createEmptyStores } from './schema/empty-stores.ts';

/** Dumps the migrated schemas of empty stores. Needs the servers that `npm run stack:up` starts. */
const stores = await createEmptyStores('one');
try {
  await migrate(stores.config, createLogger({ name: 'dump-schema', level: 'warn' }));
  const [clickhouse = ''] = await dumpClickhouse(stores.config);
  await writeFile(committedDumps.postgres, await dumpPostgres(stores.config));
  await writeFile(committedDumps.clickhouse, clickhouse);
} finally {
  await stores.drop();
}
