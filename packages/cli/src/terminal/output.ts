import { once } from 'node:events';
import { styleText } from 'node:util';
import { type Environment, readEnvironment } from '../environment.ts';
import { escapeTerminal, escapeTerminalJson } from './text.ts';

export type OutputOptions = { readonly json?: true | undefined; readonly quiet?: true | undefined };

/** The output of a command. Results are written to standard output, and everything else to standard error. */
export type Output = {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /**
   * Whether progress can be redrawn in place. True if standard error is a terminal and neither --quiet nor --json is
   * set.
   */
  readonly isLive: boolean;
  /** Prints the result. With --json, prints `value` as JSON. Otherwise, prints `text`, which must be escaped. */
  result(value: unknown, text: () => string): void;
  /** Prints one of many results. With --json, each result is one line of JSON. */
  line(value: unknown, text: () => string): void;
  /** Prints a hint that is not part of the result, unless --quiet is set. Escapes the text. */
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

/** A `dumb` terminal, as in some editors, would print cursor movements as text. */
function canRedraw(stream: NodeJS.WriteStream, environment: Environment): boolean {
  return stream.isTTY ? environment['TERM'] !== 'dumb' : false;
}

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Adds color if the terminal supports it. Node checks NO_COLOR, TERM, and whether the stream is a terminal. */
export function paint(stream: NodeJS.WriteStream, format: Paint, text: string): string {
  // Output that is not a terminal stays plain even if FORCE_COLOR is set.
  return stream.isTTY ? styleText(format, text, { stream }) : text;
}

/** Waits for a slow reader, so that a long list does not accumulate in memory. */
export async function writeText(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

/** Aborts the signal of `work` on Ctrl-C. The process continues until the work has ended. */
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
