import { fieldList, outputFor, version } from '@inlet/cli';
import type { Command } from 'commander';
import { type OutputOptions, operatorCommand } from './output.ts';

export function addVersionCommand(program: Command): void {
  operatorCommand(program, 'version', 'print the versions of Inlet, of its schemas, and of Node.js').action(
    async (options: OutputOptions) => {
      const { migrationFolder, readMigrationFiles } = await import('../../adapters/migration-files.ts');
      const newest = async (kind: Parameters<typeof migrationFolder>[0]): Promise<string> =>
        (await readMigrationFiles(migrationFolder(kind))).at(-1)?.name ?? '-';
      const versions = {
        inlet: version,
        postgresql_schema: await newest('postgres'),
        clickhouse_schema: await newest('clickhouse'),
        node: process.versions.node,
      };
      const output = outputFor(options);
      output.result(versions, () =>
        fieldList(
          [
            ['inlet', versions.inlet],
            ['PostgreSQL schema', versions.postgresql_schema],
            ['ClickHouse schema', versions.clickhouse_schema],
            ['Node.js', versions.node],
          ],
          output.stdout,
        ),
      );
    },
  );
}
