import { configSchema } from '../../src/entry/config.ts';
import { generatedNotice } from './generated-notice.ts';

/** Generates docs/configuration.md from the configuration schema. */
export function configurationPage(): string {
  const rows = Object.entries(configSchema.shape).map(([name, schema]) => {
    const empty = schema.safeParse(undefined);
    const fallback = empty.success ? (empty.data === undefined ? 'none' : `\`${String(empty.data)}\``) : '**required**';
    const description = schema.description;
    if (description === undefined) throw new Error(`${name} has no description`);
    return `| \`${name}\` | ${fallback} | ${description} |`;
  });
  return [
    '# Configuration',
    '',
    generatedNotice('src/entry/config.ts'),
    '',
    'Environment variables configure Inlet. The api, the worker, and the command line use the same variables.',
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
