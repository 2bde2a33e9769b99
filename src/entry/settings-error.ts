export type SettingProblem = {
  readonly variable: string;
  /** What is wrong, for example `is not set`. Never contains the value, which can be a secret. */
  readonly problem: string;
  readonly purpose: string;
  readonly example: string | null;
};

/** Lists every setting that is missing or invalid, with its purpose and an example. */
export class SettingsError extends Error {
  readonly problems: readonly SettingProblem[];
  readonly heading: string;
  readonly lines: readonly string[];

  constructor(problems: readonly SettingProblem[]) {
    const lines = problems.flatMap(linesOf);
    super(`Invalid configuration (see docs/configuration.md):\n${lines.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
    this.heading = problems.length === 1 ? 'A setting is not valid.' : `${problems.length} settings are not valid.`;
    this.lines = lines;
  }
}

function linesOf({ variable, problem, purpose, example }: SettingProblem): string[] {
  return [
    `${variable}: ${problem}`,
    ...(purpose === '' ? [] : [`  ${purpose}`]),
    ...(example === null ? [] : [`  Example: ${variable}=${example}`]),
  ];
}
