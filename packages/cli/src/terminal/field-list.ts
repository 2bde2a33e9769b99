import { harmless } from './harmless.ts';
import { paint } from './paint.ts';

/** Names and values of one thing, one below the other. */
export function fieldList(
  fields: readonly (readonly [name: string, value: string])[],
  stream: NodeJS.WriteStream,
): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields
    .map(([name, value]) => `${paint(stream, 'bold', name)}${' '.repeat(width - name.length)}  ${harmless(value)}`)
    .join('\n');
}
