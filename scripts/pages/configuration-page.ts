import { configSchema } from '../../src/entry/config.ts';
import { generatedNotice } from './generated-notice.ts';

/** docs/configuration.md, from the schema of the configuration. */
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
    'Inlet is configured by environment variables, the same for api, worker and command line.',
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
