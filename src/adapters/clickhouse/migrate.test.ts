import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fillVariables, splitStatements } from './migrate.ts';

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
