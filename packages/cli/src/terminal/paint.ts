import { styleText } from 'node:util';

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colour for a terminal that has some. Node looks at NO_COLOR, TERM and whether the stream is a terminal. */
export function paint(stream: NodeJS.WriteStream, format: Paint, text: string): string {
  // A stream that is no terminal stays plain even where FORCE_COLOR is set.
  return stream.isTTY ? styleText(format, text, { stream }) : text;
}
