import { textWidth } from './text-width.ts';

const shortestBar = 10;
const longestBar = 40;

/**
 * `a.csv  ███░░░   50 %  12 MB of 24 MB`: what is worked on, how far it is, and what else is known of it. As much as
 * fits: the bar gives way first, then what stands at the end.
 */
export function barLine(what: string, share: number, known: readonly string[], columns: number): string {
  const texts = [`${Math.floor(share * 100)} %`.padStart(5), ...known];
  const fitting = (): string => [what, ...texts].join('  ');
  while (texts.length > 1 && textWidth(fitting()) > columns) texts.pop();
  const length = Math.min(longestBar, columns - textWidth(fitting()) - 2);
  if (length < shortestBar) return fitting();
  const full = Math.floor(share * length);
  return [what, '█'.repeat(full) + '░'.repeat(length - full), ...texts].join('  ');
}
