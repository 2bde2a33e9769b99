import { migrationFolder, pendingMigrations, readMigrationFiles } from '../../adapters/migration-files.ts';
import type { Check } from './run-checks.ts';

/** A migration that a server has recorded as applied. */
export type Done = { readonly name: string; readonly checksum: string };

export function schemaCheck(
  server: string,
  kind: Parameters<typeof migrationFolder>[0],
  listDone: () => Promise<Done[]>,
): Check {
  return {
    name: `Schema of ${server}`,
    remedy: 'Run `inlet migrate`.',
    run: async () => {
      const done = new Map((await listDone()).map(({ name, checksum }) => [name, checksum]));
      const files = await readMigrationFiles(migrationFolder(kind));
      const pending = pendingMigrations(files, done);
      if (pending.length > 0) throw new Error(`pending: ${pending.map(({ name }) => name).join(', ')}`);
      const unknown = [...done.keys()].filter((name) => !files.some((file) => file.name === name));
      const newer = unknown.length === 0 ? '' : `, and by a newer release: ${unknown.join(', ')}`;
      return `${files.length} migrations applied${newer}`;
    },
  };
}
