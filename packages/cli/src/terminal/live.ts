import { cutToWidth } from './text-width.ts';

/** Lines at the end of a terminal that are drawn again in place. What is in them must be harmless and without colour. */
export type Live = {
  draw(lines: readonly string[]): void;
  /** Takes them away: what is said next stands in their place. */
  clear(): void;
};

export function live(stream: NodeJS.WriteStream): Live {
  let drawn = 0;
  const back = (): string => (drawn === 0 ? '' : `\x1b[${drawn}A\x1b[0J`);
  return {
    draw: (lines) => {
      // A line that wraps, or more lines than the screen has, could not be found again.
      const rows = lines.slice(0, Math.max(1, stream.rows - 2)).map((line) => cutToWidth(line, stream.columns - 1));
      stream.write(`${back()}${rows.map((row) => `${row}\n`).join('')}`);
      drawn = rows.length;
    },
    clear: () => {
      stream.write(back());
      drawn = 0;
    },
  };
}
