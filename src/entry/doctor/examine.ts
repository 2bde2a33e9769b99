import { withinTime } from '../within-time.ts';

/** One thing that must be so for Inlet to work. */
export type Check = {
  readonly name: string;
  /** What to do when it is not so. */
  readonly remedy: string;
  /** Says what it found, or throws what is wrong. */
  readonly look: () => Promise<string>;
};

export type Finding = {
  readonly name: string;
  readonly isWell: boolean;
  readonly said: string;
  readonly remedy: string;
  readonly milliseconds: number;
};

const longestLookMs = 5_000;

/** All at once: a server that does not answer must not hide what the others say. */
export async function examine(checks: readonly Check[]): Promise<Finding[]> {
  return Promise.all(
    checks.map(async ({ name, remedy, look }) => {
      const start = performance.now();
      const finding = async (): Promise<{ isWell: boolean; said: string }> => {
        try {
          return { isWell: true, said: await withinTime(look(), longestLookMs) };
        } catch (error) {
          return { isWell: false, said: wordsOf(error) };
        }
      };
      const found = await finding();
      return { name, remedy, ...found, milliseconds: Math.round(performance.now() - start) };
    }),
  );
}

/** Errors of sockets have their words in a code, or in the errors of the addresses that were tried. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message === '' ? code : error.message;
}
