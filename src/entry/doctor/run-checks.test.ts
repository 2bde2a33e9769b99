import { describe, expect, it } from 'vitest';
import { type Check, runChecks } from './run-checks.ts';

const check = (name: string, needs: readonly string[], problem?: string): Check => ({
  name,
  needs,
  remedy: `Fix ${name}.`,
  run: () => (problem === undefined ? Promise.resolve('well') : Promise.reject(new Error(problem))),
});

async function causesOf(...checks: Check[]): Promise<Record<string, string | null>> {
  const results = await runChecks(checks);
  return Object.fromEntries(results.filter(({ isOk }) => !isOk).map(({ name, causedBy }) => [name, causedBy]));
}

describe('runChecks', () => {
  it('reports no cause if every check succeeds', async () => {
    expect(await causesOf(check('server', []), check('schema', ['server']))).toEqual({});
  });

  it('reports the first cause of failures that depend on each other', async () => {
    const found = await causesOf(
      check('server', [], 'refused'),
      check('schema', ['server'], 'refused'),
      check('tables', ['schema'], 'unknown table'),
      check('clock', [], 'late'),
    );
    expect(found).toEqual({ server: null, schema: 'server', tables: 'server', clock: null });
  });

  it('never reports a successful check as the cause', async () => {
    expect(await causesOf(check('server', []), check('schema', ['server'], 'pending'))).toEqual({ schema: null });
  });

  it('describes errors without a message by their code', async () => {
    const error = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
    const refused = { ...check('server', []), run: () => Promise.reject(new AggregateError([error])) };
    expect((await runChecks([refused]))[0]?.message).toBe('ECONNREFUSED');
  });
});
