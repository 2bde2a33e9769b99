import { once } from 'node:events';
import { styleText } from 'node:util';
import { type Environment, readEnvironment } from '../environment.ts';
import { escapeTerminal, escapeTerminalJson } from './text.ts';

export type OutputOptions = { readonly json?: true | undefined; readonly quiet?: true | undefined };

/** What a command says. Results go to standard output, all else to standard error, so that scripts can read the first. */
export type Output = {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** Whether something may move: a person looks at standard error, and wants to see more than the result. */
  readonly isLive: boolean;
  /** The result: for scripts as JSON, for people as `text` says it. What is in `text` must be escapeTerminal. */
  result(value: unknown, text: () => string): void;
  /** One of many results: for scripts a line of JSON. */
  line(value: unknown, text: () => string): void;
  /** One line that helps a person and is not the result; `--quiet` leaves it out. What is in it is made escapeTerminal here. */
  note(text: string): void;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
};

export type Streams = Pick<Output, 'stdout' | 'stderr'>;

export function outputFor(
  { json, quiet }: OutputOptions,
  { stdout, stderr }: Streams = process,
  environment: Environment = readEnvironment(),
): Output {
  const isJson = json === true;
  const isQuiet = quiet === true;
  return {
    isJson,
    isQuiet,
    isLive: !isQuiet && !isJson && canRedraw(stderr, environment),
    result: (value, text) => void stdout.write(`${isJson ? escapeTerminalJson(value) : text()}\n`),
    line: (value, text) => void stdout.write(`${isJson ? escapeTerminalJson(value, 0) : text()}\n`),
    note: (text) => {
      if (!isQuiet) stderr.write(`${escapeTerminal(text)}\n`);
    },
    stdout,
    stderr,
  };
}

/** A `dumb` terminal, as some editors have, would show the commands that move the cursor. */
function canRedraw(stream: NodeJS.WriteStream, environment: Environment): boolean {
  return stream.isTTY ? environment['TERM'] !== 'dumb' : false;
}

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colour for a terminal that has some. Node looks at NO_COLOR, TERM and whether the stream is a terminal. */
export function paint(stream: NodeJS.WriteStream, format: Paint, text: string): string {
  // A stream that is no terminal stays plain even where FORCE_COLOR is set.
  return stream.isTTY ? styleText(format, text, { stream }) : text;
}

/** Waits when whoever reads is slow, so that a long list does not stand in memory. */
export async function writeText(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

/** Work that Ctrl-C ends in its own way: it gets a signal, and the process goes on until the work is over. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', stop);
  }
}
