import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { interrupted, missingAnswer } from '../failures/cli-failure.ts';

export type Question = {
  /** The name of the requested value. If there is no terminal, the error contains it. */
  readonly what: string;
  /** Prompt text, if `what` alone is not clear. */
  readonly question?: string;
  /** The option or variable that provides the value without a prompt. */
  readonly flag: string;
  /** Do not echo the input. */
  readonly isSecret?: true;
  /** Accept empty input. */
  readonly isOptional?: true;
};

/**
 * Whether prompts are possible. Prompts are written to standard error, so that standard output contains only the
 * result.
 */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Prompts until the user enters a value. Without a terminal, fails with an error that names the option. */
export async function ask({ what, question = what, flag, isSecret, isOptional }: Question): Promise<string> {
  if (!canAsk()) throw missingAnswer(what, flag);
  for (;;) {
    const answer = (await readLine(`${question}: `, isSecret === true)).trim();
    if (answer !== '' || isOptional) return answer;
  }
}

/** Only `y` and `yes` confirm. */
export async function confirm(question: string, isAgreed: boolean | undefined): Promise<boolean> {
  if (isAgreed) return true;
  if (!canAsk()) throw missingAnswer('Confirmation', '--yes');
  return /^y(?:es)?$/i.test((await readLine(`${question} [y/N] `, false)).trim());
}

function readLine(question: string, isSecret: boolean): Promise<string> {
  // Readline echoes the input. The echo of a secret is discarded.
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? discard : process.stderr,
    terminal: true,
    historySize: 0,
  });
  if (isSecret) process.stderr.write(question);
  return new Promise((resolve, reject) => {
    const end = (): void => {
      if (isSecret) process.stderr.write('\n');
      lines.close();
    };
    lines.once('SIGINT', () => {
      reject(interrupted('Nothing was changed.'));
      end();
    });
    // Ctrl-D closes readline without input.
    lines.once('close', () => reject(interrupted('Nothing was changed.')));
    lines.question(isSecret ? '' : question, (answer) => {
      resolve(answer);
      end();
    });
  });
}
