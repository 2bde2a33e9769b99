import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordTables } from './partner-removals.ts';

const schema = readFileSync(new URL('../../../migrations/postgres/schema.sql', import.meta.url), 'utf8');
const kept = new Set(['audit_log', 'partner_removal']);

const tables = Array.from(
  schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE public\.(\w+) \(\n([\s\S]*?)\n\)[^;]*;/gm),
  ([, name = '', columns = '']) => ({ name, columns }),
);
const references = Array.from(
  schema.matchAll(
    /^ALTER TABLE ONLY public\.(\w+)\n {4}ADD CONSTRAINT \w+ FOREIGN KEY \(\w+\) REFERENCES public\.(\w+)\(/gm,
  ),
  ([, from = '', to = '']) => ({ from, to }),
);
const removed: readonly string[] = recordTables.map(([table]) => table);

describe('the tables from which a removal deletes', () => {
  it('include every table with a partner', () => {
    const due = tables.filter(({ name, columns }) => / partner_id /.test(columns) && !kept.has(name));
    expect(due.length).toBeGreaterThan(30);
    expect(due.map(({ name }) => name).filter((name) => !removed.includes(name))).toEqual([]);
  });

  it('include every table that refers to one of them, before the table that it refers to', () => {
    expect(references.length).toBeGreaterThan(50);
    for (const { from, to } of references) {
      if (!removed.includes(to)) continue;
      expect(removed, `${from} refers to ${to}`).toContain(from);
      expect(removed.indexOf(from), `${from} refers to ${to}`).toBeLessThan(removed.indexOf(to));
    }
  });
});
