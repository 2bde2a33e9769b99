import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fieldsOf, operations as registry, type Operation } from '../../packages/contract/src/operations.ts';

// test/acceptance/OPERATION_COVERAGE.md says which test covers which field. Here it is held to the contract and to
// the tests: nothing of the contract may be missing, and every test that it names must exist.

const folder = new URL('../acceptance/', import.meta.url);
const cells = readFileSync(new URL('OPERATION_COVERAGE.md', folder), 'utf8')
  .split('\n')
  .filter((line) => /^\| [`\d]/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const rows = cells
  .filter(({ length }) => length === 4)
  .map(([operation = '', place = '', field = '', test = '']) => ({ operation, place, field, test }));

const operations: readonly Operation[] = Object.values(registry);
const parts = ['params', 'query', 'body', 'answer'] as const;

/** Every field; and `none` where there is no answer, or where a body may be left out: that is something to test too. */
function placesOf(operation: Operation): string[] {
  return parts.flatMap((part) => {
    const schema = operation[part];
    const fields = fieldsOf(schema).map((field) => `\`${field}\``);
    const mayBeNone = part === 'answer' ? !schema : part === 'body' && schema?.safeParse(undefined).success;
    return [...fields, ...(mayBeNone ? ['none'] : [])].map(
      (field) => `\`${operation.method} ${operation.path}\` ${part} ${field}`,
    );
  });
}

describe('the inventory of what the acceptance suite covers', () => {
  it.each(operations)('has every field of $method $path', (operation) => {
    const listed = new Set(rows.map(({ operation: name, place, field }) => `${name} ${place} ${field}`));
    expect(placesOf(operation).filter((place) => !listed.has(place))).toEqual([]);
  });

  it('has nothing that is not in the contract', () => {
    const known = new Set(operations.flatMap(placesOf));
    expect(
      rows.map(({ operation, place, field }) => `${operation} ${place} ${field}`).filter((place) => !known.has(place)),
    ).toEqual([]);
  });

  it('names tests that exist', () => {
    for (const test of cells.map((row) => row.at(-1) ?? '')) {
      const found = /^`([a-z./-]+\.test\.ts)`: (.+)$/.exec(test);
      const [file, name] = [found?.[1], found?.[2]];
      expect(file, test).toBeDefined();
      expect(readFileSync(new URL(file ?? '', folder), 'utf8'), test).toContain(name);
    }
    expect(rows.length).toBeGreaterThan(80);
  });
});
