import type { Output } from '../terminal/output.ts';
import { live } from '../terminal/live.ts';

export type ProgressReport<T> = {
  /** What is in the lines must be harmless. */
  show(record: T, lines: readonly string[]): void;
  end(): void;
};

/** On a terminal the lines are drawn in place; elsewhere each line that is new is said once; scripts get the record. */
export function progressReport<T>(output: Output): ProgressReport<T> {
  if (output.isLive) {
    const screen = live(output.stderr);
    return { show: (_record, lines) => screen.draw(lines), end: () => screen.clear() };
  }
  let last: ReadonlySet<string> = new Set();
  return {
    show: (record, lines) => {
      if (output.isJson) {
        if (!output.isQuiet) output.line(record, () => '');
        return;
      }
      for (const line of lines) if (!last.has(line)) output.note(line);
      last = new Set(lines);
    },
    end: () => {},
  };
}
