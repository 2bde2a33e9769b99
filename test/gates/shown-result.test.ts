import { describe, expect, it } from 'vitest';
import { differenceFrom } from '../pages/shown-result.ts';

// What decides whether a page shows what was printed: a comparison that lets everything pass would prove nothing.

const text = (shown: string) => ({ language: 'text', text: shown });
const json = (shown: string) => ({ language: 'json', text: shown });

describe('a text that a page shows', () => {
  it.each([
    ['204', '204\n'],
    ['a,b\nc,…', 'a,b\r\nc,d,e\r\n'],
    ['first\n…\nlast', 'first\n1\n2\nlast\n'],
    ['first\n…\nlast', 'first\nlast\n'],
    ['ok  Disk: … free', 'before\nok  Disk: 1 (2) free\nafter'],
  ])('is what was printed: %j, %j', (shown, printed) => {
    expect(differenceFrom(text(shown), printed)).toBeNull();
  });

  it.each([
    ['204', '200\n'],
    ['204', '1204\n'],
    ['a.b', 'axb'],
    ['first\nlast', 'first\n1\nlast\n'],
    ['first\n…\nlast', 'last\nfirst\n'],
  ])('is not: %j, %j', (shown, printed) => {
    expect(differenceFrom(text(shown), printed)).toContain('and printed');
  });
});

describe('JSON that a page shows', () => {
  it.each([
    ['{"status": 2}', '{"status":2,"more":[1]}'],
    ['{"import_log_id": 1}', 'HTTP/1.1 202\n\n{"import_log_id":7}'],
    ['{"key": "…"}', '{"key":"secret"}\nIt is shown once.'],
    ['[{"a": 1}, {"a": 2}]', '[{"a":1,"b":0},{"a":2}]'],
    ['{"errors": null}', '{"errors":null}'],
  ])('is what was printed: %j, %j', (shown, printed) => {
    expect(differenceFrom(json(shown), printed)).toBeNull();
  });

  it.each([
    ['{"status": 2}', '{"status":3}', '.status was to be 2 and is 3'],
    ['{"status": 2}', '{}', '.status was to be 2 and is undefined'],
    ['{"import_log_id": 1}', '{"import_log_id":"7"}', '.import_log_id was to be 1 and is "7"'],
    ['[{"a": 1}]', '[{"a":1},{"a":2}]', ' was to have 1 entries and is [{"a":1},{"a":2}]'],
    ['{"errors": null}', '{"errors":[]}', '.errors was to be null and is []'],
    ['{"a": {"b": 1}}', '{"a":1}', '.a was to be an object and is 1'],
  ])('is not: %j, %j', (shown, printed, difference) => {
    expect(differenceFrom(json(shown), printed)).toBe(difference);
  });
});
