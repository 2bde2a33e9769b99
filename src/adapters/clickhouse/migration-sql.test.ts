import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { migrationFolder, readMigrationFiles } from '../migration-files.ts';
import { fillVariables, renderMigration, replicatedTables, splitStatements } from './migration-sql.ts';

describe('splitStatements', () => {
  it.each([
    { text: '', statements: [] },
    { text: '\n \n', statements: [] },
    { text: '-- nothing but words;\n', statements: [] },
    { text: 'SELECT 1', statements: ['SELECT 1'] },
    { text: 'SELECT 1;', statements: ['SELECT 1'] },
    { text: 'SELECT 1; \t\nSELECT 2;\n', statements: ['SELECT 1', 'SELECT 2'] },
    { text: 'SELECT 1;\n\n;\nSELECT 2;\n', statements: ['SELECT 1', 'SELECT 2'] },
    { text: 'SELECT\n  1;\nSELECT 2', statements: ['SELECT\n  1', 'SELECT 2'] },
    { text: "SELECT ';' AS a;\nSELECT 2;", statements: ["SELECT ';' AS a", 'SELECT 2'] },
    { text: '-- first;\nSELECT 1;\n  -- second;\nSELECT 2;', statements: ['SELECT 1', 'SELECT 2'] },
    { text: 'SELECT 1, -- one\n  2;', statements: ['SELECT 1, -- one\n  2'] },
    { text: 'CREATE TABLE a (\n  -- why;\n  b Int8\n);\n', statements: ['CREATE TABLE a (\n  b Int8\n)'] },
  ])('splits $text into $statements', ({ text, statements }) => {
    expect(splitStatements(text)).toEqual(statements);
  });

  it('finds every CREATE statement in the first migration', () => {
    const text = readFileSync(new URL('../../../migrations/clickhouse/0001-data-plane.sql', import.meta.url), 'utf8');
    const statements = splitStatements(text);
    expect(statements.length).toBe(text.match(/^CREATE /gm)?.length);
    for (const statement of statements) expect(statement).toMatch(/^CREATE (TABLE|MATERIALIZED VIEW) IF NOT EXISTS /);
  });
});

describe('fillVariables', () => {
  it('replaces every occurrence of a variable', () => {
    const text = "ENGINE = ${replicated}MergeTree('${cluster}') -- ${cluster}";
    expect(fillVariables(text, { replicated: '', cluster: 'inlet' })).toBe("ENGINE = MergeTree('inlet') -- inlet");
  });

  it('inserts a variable value verbatim', () => {
    expect(fillVariables('a ${b} c', { b: "$& ${b} $'" })).toBe('a ${b} c'.replace('${b}', () => "$& ${b} $'"));
  });

  it('rejects an unknown variable', () => {
    expect(() => fillVariables('a ${clutser}', { cluster: 'inlet' })).toThrow('unknown variable ${clutser}');
  });
});

describe('renderMigration', () => {
  const replica = { shardPath: '/inlet/shard', replicaName: 'one' };
  const render = (text: string) => renderMigration(text, 'inlet', replica);

  it.each([
    [
      'CREATE TABLE IF NOT EXISTS known_devices_local ${on_cluster} (a Int8) ENGINE = ${replicated}ReplacingMergeTree ORDER BY a;',
      "ENGINE = ReplicatedReplacingMergeTree('/inlet/shard/known_devices_local', 'one') ORDER BY a",
    ],
    [
      'CREATE TABLE IF NOT EXISTS device_attributes_local (a Int8) ENGINE = ${replicated}ReplacingMergeTree(a, b) ORDER BY a;',
      "ENGINE = ReplicatedReplacingMergeTree('/inlet/shard/device_attributes_local', 'one', a, b) ORDER BY a",
    ],
    [
      'CREATE TABLE IF NOT EXISTS staged_members_local (a Int8) ENGINE = ${replicated}MergeTree ORDER BY a;',
      'ENGINE = MergeTree ORDER BY a',
    ],
  ])('replicates only tables with published rows: %s', (text, engine) => {
    expect(render(text)[0]?.sql.endsWith(engine)).toBe(true);
  });

  it.each([
    ['ALTER TABLE known_devices_local ${on_cluster} MODIFY COLUMN device CODEC(LZ4);', 'one replica per shard'],
    ['ALTER TABLE known_devices_local ${on_cluster} MODIFY SETTING fsync_after_insert = 1;', 'every replica'],
    ['ALTER TABLE load_counts_local ${on_cluster} ADD COLUMN IF NOT EXISTS a Int8;', 'every replica'],
    [
      'CREATE TABLE IF NOT EXISTS known_devices_local (a Int8) ENGINE = ${replicated}MergeTree ORDER BY a;',
      'every replica',
    ],
  ])('runs a statement on every replica unless ClickHouse replicates it: %s', (text, runsOn) => {
    expect(render(text)[0]?.runsOn).toBe(runsOn);
  });

  it('changes nothing but the engines of the replicated tables', async () => {
    const files = await readMigrationFiles(migrationFolder('clickhouse'));
    const lines = (of: typeof replica | null): string[] =>
      files.flatMap(({ text }) => renderMigration(text, 'inlet', of).flatMap(({ sql }) => sql.split('\n')));
    const plain = lines(null);
    const changed = lines(replica).filter((line, index) => line !== plain[index]);
    expect(lines(replica)).toHaveLength(plain.length);
    expect(changed).toHaveLength(replicatedTables.size);
    for (const line of changed)
      expect(line).toMatch(/^\) ENGINE = Replicated\w*MergeTree\('\/inlet\/shard\/\w+', 'one'/);
  });
});
