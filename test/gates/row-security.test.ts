import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { apiFunctions, apiTables, closedToApi } from '../../src/adapters/postgres/db/api-role.ts';
import { pathInRepository } from './tree-copy.ts';

// `test/integration/migrations.test.ts` checks that migrations/postgres/schema.sql is the result of the migrations.
// When you add a table, decide which privileges the API role has and which rows it can access.

const schema = readFileSync(pathInRepository('migrations/postgres/schema.sql'), 'utf8');
const tables = new Map(
  Array.from(
    schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE public\.(\w+) \(\n([\s\S]*?)\n\)[^;]*;/gm),
    ([, name = '', columns = '']) => [name, columns],
  ),
);
const isProtected = (table: string): boolean =>
  schema.includes(`ALTER TABLE public.${table} ENABLE ROW LEVEL SECURITY;`) &&
  new RegExp(String.raw`^CREATE POLICY \w+ ON public\.${table} USING`, 'm').test(schema);

describe('a table', () => {
  it('lists every table in src/adapters/postgres/db/api-role.ts as open or closed to the API role', () => {
    expect(tables.size).toBeGreaterThan(15);
    const listed = [...Object.keys(apiTables), ...Object.keys(closedToApi)];
    expect(listed.toSorted()).toEqual([...tables.keys()].toSorted());
    for (const reason of Object.values(closedToApi)) expect(reason).toMatch(/\w{3}/);
  });

  it('has a policy for every table that has a partner column or is open to the API role', () => {
    const due = [...tables].filter(([name, columns]) => / partner_id /.test(columns) || name in apiTables);
    expect(due.length).toBeGreaterThan(12);
    expect(due.map(([name]) => name).filter((name) => !isProtected(name))).toEqual([]);
  });
});

describe('a SECURITY DEFINER function', () => {
  const made = Array.from(
    schema.matchAll(/^CREATE FUNCTION public\.(\w+)\([^\n]*\n((?:(?!^CREATE |^ALTER )[^\n]*\n)*)/gm),
    ([text, name = '']) => ({ name, text }),
  ).filter(({ text }) => text.includes('SECURITY DEFINER') && !text.includes('RETURNS trigger'));

  it('fixes the search path of every SECURITY DEFINER function', () => {
    expect(made.length).toBeGreaterThan(3);
    for (const { name, text } of made) expect(text, name).toMatch(/SET search_path TO .*'pg_temp'$/m);
  });

  it('allows only the API role to call a SECURITY DEFINER function', () => {
    expect(made.map(({ name }) => name).toSorted()).toEqual(
      apiFunctions.map((text) => text.replace(/\(.*/, '')).toSorted(),
    );
    for (const { name } of made) {
      expect(schema).toMatch(new RegExp(String.raw`^REVOKE ALL ON FUNCTION public\.${name}\(.*\) FROM PUBLIC;`, 'm'));
    }
  });
});
