import { z } from 'zod';

/**
 * Returns how the printed output differs from the result that a page shows, or null. In text, `…` matches anything
 * within a line. A line with only `…` matches any number of lines. JSON must contain the fields that the page shows,
 * but a page can omit fields. For IDs and times, only the type is compared.
 */
export function differenceFrom(
  shown: { readonly language: string; readonly text: string },
  printed: string,
): string | null {
  return shown.language === 'json'
    ? jsonDifference('', JSON.parse(shown.text), jsonIn(printed))
    : textDifference(shown.text, printed);
}

function textDifference(shown: string, printed: string): string | null {
  const lines = shown.split('\n').map((line) => (line.trim() === '…' ? '(?:.*\n)*' : `${lineForm(line)} *\n`));
  return new RegExp(`(?:^|\n)${lines.join('')}`).test(`${printed.replaceAll('\r', '').trimEnd()}\n`)
    ? null
    : `expected\n${shown}\nbut got\n${printed}`;
}

function lineForm(line: string): string {
  return line
    .trimEnd()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
}

/** Skips headers before the JSON and text after it. */
function jsonIn(printed: string): unknown {
  const found = /^[[{][\s\S]*[\]}]/m.exec(printed);
  if (!found) throw new Error(`no JSON was printed: ${printed}`);
  return JSON.parse(found[0]);
}

const recordSchema = z.record(z.string(), z.unknown());

function jsonDifference(path: string, shown: unknown, got: unknown): string | null {
  if (shown === '…') return null;
  if (Array.isArray(shown)) return listDifference(path, shown, got);
  const fields = recordSchema.safeParse(shown);
  if (fields.success) {
    const there = recordSchema.safeParse(got);
    if (!there.success) return `${path} should be an object but is ${JSON.stringify(got)}`;
    return first(Object.entries(fields.data), ([name, value]) =>
      jsonDifference(`${path}.${name}`, value, there.data[name]),
    );
  }
  const isSame = /_(id|at)$/.test(path) ? typeof shown === typeof got : shown === got;
  return isSame ? null : `${path} should be ${JSON.stringify(shown)} but is ${JSON.stringify(got)}`;
}

function listDifference(path: string, shown: readonly unknown[], got: unknown): string | null {
  if (!Array.isArray(got) || got.length !== shown.length)
    return `${path} should have ${shown.length} entries but is ${JSON.stringify(got)}`;
  return first([...shown.entries()], ([index, value]) => jsonDifference(`${path}[${index}]`, value, got[index]));
}

function first<T>(items: readonly T[], find: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}
