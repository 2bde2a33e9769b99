/** A text in lines that begin alike and end between words. Where there is no terminal (`columns` undefined), in one. */
export function inLines(text: string, columns: number | undefined, indent: string): string {
  const most = columns ?? Infinity;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}
