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
  /** It failed in the words of this one, which is about the same server: there is one thing to mend, not two. */
  readonly sameAs: string | null;
  readonly milliseconds: number;
};

const longestLookMs = 5_000;

/** Each list is about one server; its first check says whether it can be reached. */
export async function examine(servers: readonly (readonly Check[])[]): Promise<Finding[]> {
  return (await Promise.all(servers.map(examineServer))).flat();
}

/** All at once: a server that does not answer must not hide what the others say. */
async function examineServer(checks: readonly Check[]): Promise<Finding[]> {
  const findings = await Promise.all(
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
  const [first] = findings;
  return findings.map((finding) => {
    const isSame = finding !== first && first?.isWell === false && !finding.isWell && finding.said === first.said;
    return { ...finding, sameAs: isSame ? first.name : null };
  });
}

/** Errors of sockets have their words in a code, or in the errors of the addresses that were tried. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message === '' ? code : error.message;
}
