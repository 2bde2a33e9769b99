import type { z } from 'zod';
import { settingExamples } from './setting-examples.ts';
import type { SettingProblem } from './settings-error.ts';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

/** Describes what is wrong with a setting, unless the setting has its own message. */
export function messageOfIssue(issue: Issue): string {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- no setting has another kind of problem
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is not set';
      return issue.expected === 'number' ? 'must be a number' : 'must be a whole number';
    case 'too_small':
      if (issue.origin === 'number') return `must be at least ${Number(issue.minimum) + (issue.inclusive ? 0 : 1)}`;
      return issue.origin === 'string'
        ? `must have at least ${issue.minimum} characters`
        : `must have at least ${issue.minimum} entries`;
    case 'too_big':
      return issue.origin === 'number'
        ? `must be at most ${issue.maximum}`
        : `must have at most ${issue.maximum} characters`;
    case 'invalid_value':
      return `must be ${alternatives(issue.values.map(String))}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL, for example https://storage.example.com' : 'has a wrong format';
    default:
      return 'is not valid';
  }
}

function alternatives(values: readonly string[]): string {
  const last = values.at(-1) ?? '';
  return values.length < 2 ? last : `one of ${values.slice(0, -1).join(', ')}, or ${last}`;
}

/** Removes the Markdown of a description in docs/configuration.md. */
function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

/** Adds the purpose and an example of the setting. `variable` differs from `setting` for a file with a secret. */
export function describeProblem(
  shape: Readonly<Record<string, z.ZodType>>,
  { setting, variable = setting, problem }: { setting: string; variable?: string; problem: string },
): SettingProblem {
  const schema = Object.hasOwn(shape, setting) ? shape[setting] : undefined;
  // The first sentence is the purpose. docs/configuration.md has the rest.
  const [purpose = ''] = plainText(schema?.description ?? '').split(/(?<=\.) (?=[A-Z])/);
  return {
    variable,
    problem,
    purpose,
    example: variable === setting ? exampleOf(setting, schema) : `/run/secrets/${setting.toLowerCase()}`,
  };
}

export function exampleOf(setting: string, schema: z.ZodType | undefined): string | null {
  if (Object.hasOwn(settingExamples, setting)) return settingExamples[setting] ?? null;
  const byDefault = schema?.safeParse(undefined);
  if (byDefault?.success !== true) return null;
  return Array.isArray(byDefault.data) ? byDefault.data.join(',') : String(byDefault.data);
}
