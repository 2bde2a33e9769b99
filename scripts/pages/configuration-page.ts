import { configSchema } from '../../src/entry/config.ts';
import { secretSettings } from '../../src/entry/secret-files.ts';
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
    'Each secret can be read from a file instead. Add `_FILE` to the name of the variable, and set it to the path of the file, for example',
    '`INLET_POSTGRES_URL_FILE=/run/secrets/postgres-url`. A process reads the file when it starts and removes one trailing newline. A variable',
    'and its `_FILE` must not both be set. These settings are secrets:',
    '',
    `${secretSettings.map((name) => `\`${name}\``).join(', ')}.`,
    '',
    '| Variable | Default | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
