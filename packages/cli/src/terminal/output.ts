import { readEnvironment, type Environment } from '../environment.ts';
import { harmless, harmlessJson } from './harmless.ts';

export type OutputOptions = { readonly json?: true | undefined; readonly quiet?: true | undefined };

/** What a command says. Results go to standard output, all else to standard error, so that scripts can read the first. */
export type Output = {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** Whether something may move: a person looks at standard error, and wants to see more than the result. */
  readonly isLive: boolean;
  /** The result: for scripts as JSON, for people as `text` says it. What is in `text` must be harmless. */
  result(value: unknown, text: () => string): void;
  /** One of many results: for scripts a line of JSON. */
  line(value: unknown, text: () => string): void;
  /** One line that helps a person and is not the result; `--quiet` leaves it out. What is in it is made harmless here. */
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
    result: (value, text) => void stdout.write(`${isJson ? harmlessJson(value) : text()}\n`),
    line: (value, text) => void stdout.write(`${isJson ? harmlessJson(value, 0) : text()}\n`),
    note: (text) => {
      if (!isQuiet) stderr.write(`${harmless(text)}\n`);
    },
    stdout,
    stderr,
  };
}

/** A `dumb` terminal, as some editors have, would show the commands that move the cursor. */
function canRedraw(stream: NodeJS.WriteStream, environment: Environment): boolean {
  return stream.isTTY ? environment['TERM'] !== 'dumb' : false;
}
