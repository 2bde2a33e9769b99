import { type Paint, paint } from './output.ts';
import { cutToWidth, escapeTerminal, textWidth } from './text.ts';

export type Column<T> = {
  readonly title: string;
  readonly of: (entry: T) => string | number | null;
  /** Used for numbers. */
  readonly align?: 'right';
  /** Whether the column can be truncated if the terminal is too narrow. */
  readonly canShrink?: true;
  readonly paint?: (entry: T) => Paint | undefined;
};

const gap = '  ';
const minShrunkWidth = 8;

/**
 * Renders a table. Escapes the cells and truncates columns to the terminal width. Without a terminal, nothing is
 * truncated.
 */
export function table<T extends object>(
  columns: readonly Column<T>[],
  entries: readonly T[],
  stream: NodeJS.WriteStream,
  style: 'painted' | 'plain' = 'painted',
): string {
  const inColor = (format: Paint | undefined, text: string): string =>
    format === undefined || style === 'plain' ? text : paint(stream, format, text);
  const cells = entries.map((entry) => columns.map(({ of }) => escapeTerminal(String(of(entry) ?? '-'))));
  const widths = columns.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, textWidth(row[index] ?? '')), textWidth(title)),
  );
  if (stream.isTTY) shrink(widths, columns, stream.columns);
  const line = (row: readonly string[], paintCell: (index: number, text: string) => string): string =>
    row
      .map((text, index) => {
        const width = widths[index] ?? 0;
        const cut = cutToWidth(text, width);
        const space = ' '.repeat(width - textWidth(cut));
        const painted = paintCell(index, cut);
        return columns[index]?.align === 'right' ? space + painted : painted + space;
      })
      .join(gap)
      .trimEnd();
  const heading = line(
    columns.map(({ title }) => title),
    (_index, text) => inColor('bold', text),
  );
  const rows = cells.map((row, number) => {
    const entry = entries[number];
    return line(row, (index, text) => inColor(entry && columns[index]?.paint?.(entry), text));
  });
  return [heading, ...rows].join('\n');
}

/** Narrows the shrinkable columns, widest first, until the table fits. */
function shrink<T>(widths: number[], columns: readonly Column<T>[], available: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  while (total() > available) {
    const able = columns.flatMap(({ canShrink }, index) =>
      canShrink && (widths[index] ?? 0) > minShrunkWidth ? [index] : [],
    );
    const widest = able.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    if (widest === undefined) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

/** Formats the fields of one record, one name and value per line. */
export function fieldList(
  fields: readonly (readonly [name: string, value: string])[],
  stream: NodeJS.WriteStream,
): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields
    .map(
      ([name, value]) => `${paint(stream, 'bold', name)}${' '.repeat(width - name.length)}  ${escapeTerminal(value)}`,
    )
    .join('\n');
}
