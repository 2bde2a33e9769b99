import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { interrupted, missingAnswer } from '../failures/cli-failure.ts';

export type Question = {
  /** The thing that is asked for; also for the complaint when nobody can be asked. */
  readonly what: string;
  /** Where the thing alone would not be understood. */
  readonly question?: string;
  /** Where else the answer could have come from. */
  readonly flag: string;
  /** Not shown while it is typed. */
  readonly isSecret?: true;
  /** Nothing is an answer too. */
  readonly isOptional?: true;
};

/** Whether somebody is there: questions are shown on standard error, so that standard output stays the result. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks until there is an answer; where nobody can be asked, it fails and names the flag. */
export async function ask({ what, question = what, flag, isSecret, isOptional }: Question): Promise<string> {
  if (!canAsk()) throw missingAnswer(what, flag);
  for (;;) {
    const answer = (await readLine(`${question}: `, isSecret === true)).trim();
    if (answer !== '' || isOptional) return answer;
  }
}

/** Only `y` and `yes` are a yes. */
export async function confirm(question: string, isAgreed: boolean | undefined): Promise<boolean> {
  if (isAgreed) return true;
  if (!canAsk()) throw missingAnswer('A confirmation', '--yes');
  return /^y(?:es)?$/i.test((await readLine(`${question} [y/N] `, false)).trim());
}

function readLine(question: string, isSecret: boolean): Promise<string> {
  // Readline writes what is typed; of a secret it writes it to nobody.
  const nobody = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? nobody : process.stderr,
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
      reject(interrupted('Nothing was done.'));
      end();
    });
    // Ctrl-D: readline is closed and no answer came.
    lines.once('close', () => reject(interrupted('Nothing was done.')));
    lines.question(isSecret ? '' : question, (answer) => {
      resolve(answer);
      end();
    });
  });
}
