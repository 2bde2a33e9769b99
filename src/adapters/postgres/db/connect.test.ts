import { describe, expect, it } from 'vitest';
import { preparedName } from './connect.ts';

describe('the name of a prepared statement', () => {
  it('derives the name of a prepared statement from its text only', () => {
    const one = preparedName('select 1 where $1');
    expect(one).toBe(preparedName('select 1 where $1'));
    expect(one).not.toBe(preparedName('select 2 where $1'));
  });

  it.each(['select * from "job" where "partner_id" = $1 order by "id" LIMIT $2', 'begin', 'delete from "job"'])(
    'does not prepare the statement %s',
    (text) => {
      expect(preparedName(text)).toBeUndefined();
    },
  );

  it('names a limited number of statements and never renames them', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => preparedName(`select ${index} where $1`));
    const given = names.filter((name) => name !== undefined);
    expect(given.length).toBeLessThanOrEqual(200);
    expect(new Set(given).size).toBe(given.length);
    expect(preparedName('select 0 where $1')).toBe(names[0]);
  });
});
