import { migrationFolder, pendingMigrations, readMigrationFiles } from '../../adapters/migration-files.ts';
import type { Check } from './run-checks.ts';

/** A migration that a server has recorded as applied. */
export type Done = { readonly name: string; readonly checksum: string };

export function schemaCheck(
  server: string,
  kind: Parameters<typeof migrationFolder>[0],
  { needs, listDone }: { readonly needs: readonly string[]; readonly listDone: () => Promise<Done[]> },
): Check {
  return {
    name: schemaCheckName(server),
    remedy: `Run \`inlet migrate\`. If it has run before, check ${kind === 'postgres' ? 'INLET_POSTGRES_URL' : 'INLET_CLICKHOUSE_DATABASE'}.`,
    needs,
    run: async () => {
      const recorded = await listDone().catch((error: unknown) => {
        if (isMissing(error)) throw new Error('no migration has run yet');
        throw error;
      });
      const done = new Map(recorded.map(({ name, checksum }) => [name, checksum]));
      const files = await readMigrationFiles(migrationFolder(kind));
      const pending = pendingMigrations(files, done);
      if (pending.length > 0) throw new Error(`pending: ${pending.map(({ name }) => name).join(', ')}`);
      const unknown = [...done.keys()].filter((name) => !files.some((file) => file.name === name));
      const newer = unknown.length === 0 ? '' : `, and by a newer release: ${unknown.join(', ')}`;
      return `${files.length} migrations applied${newer}`;
    },
  };
}

export function schemaCheckName(server: string): string {
  return `Schema of ${server}`;
}

/** The table or the ClickHouse database does not exist. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  const type = 'type' in error ? String(error.type) : '';
  return code === '42P01' || type === 'UNKNOWN_DATABASE' || type === 'UNKNOWN_TABLE';
}
