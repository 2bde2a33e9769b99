import { describe, expect, it } from 'vitest';
import { differenceFrom } from '../pages/shown-result.ts';

// Tests the comparison itself, because a comparison that accepts everything would prove nothing.

const text = (shown: string) => ({ language: 'text', text: shown });
const json = (shown: string) => ({ language: 'json', text: shown });

describe('text that a page shows', () => {
  it.each([
    ['204', '204\n'],
    ['a,b\nc,…', 'a,b\r\nc,d,e\r\n'],
    ['first\n…\nlast', 'first\n1\n2\nlast\n'],
    ['first\n…\nlast', 'first\nlast\n'],
    ['ok  Disk: … free', 'before\nok  Disk: 1 (2) free\nafter'],
  ])('matches the shown result %j with the output %j', (shown, printed) => {
    expect(differenceFrom(text(shown), printed)).toBeNull();
  });

  it.each([
    ['204', '200\n'],
    ['204', '1204\n'],
    ['a.b', 'axb'],
    ['first\nlast', 'first\n1\nlast\n'],
    ['first\n…\nlast', 'last\nfirst\n'],
  ])('distinguishes the shown result %j from the output %j', (shown, printed) => {
    expect(differenceFrom(text(shown), printed)).toContain('but got');
  });
});

describe('JSON that a page shows', () => {
  it.each([
    ['{"status": 2}', '{"status":2,"more":[1]}'],
    ['{"import_log_id": 1}', 'HTTP/1.1 202\n\n{"import_log_id":7}'],
    ['{"key": "…"}', '{"key":"secret"}\nIt is shown once.'],
    ['[{"a": 1}, {"a": 2}]', '[{"a":1,"b":0},{"a":2}]'],
    ['{"errors": null}', '{"errors":null}'],
  ])('matches the shown result %j with the output %j', (shown, printed) => {
    expect(differenceFrom(json(shown), printed)).toBeNull();
  });

  it.each([
    ['{"status": 2}', '{"status":3}', '.status should be 2 but is 3'],
    ['{"status": 2}', '{}', '.status should be 2 but is undefined'],
    ['{"import_log_id": 1}', '{"import_log_id":"7"}', '.import_log_id should be 1 but is "7"'],
    ['[{"a": 1}]', '[{"a":1},{"a":2}]', ' should have 1 entries but is [{"a":1},{"a":2}]'],
    ['{"errors": null}', '{"errors":[]}', '.errors should be null but is []'],
    ['{"a": {"b": 1}}', '{"a":1}', '.a should be an object but is 1'],
  ])('distinguishes the shown result %j from the output %j', (shown, printed, difference) => {
    expect(differenceFrom(json(shown), printed)).toBe(difference);
  });
});
