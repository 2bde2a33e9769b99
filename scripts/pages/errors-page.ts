import { rejectReasons } from '@inlet/row-rule/row-rule';
import { failureCatalog } from '../../src/domain/failure-catalog.ts';
import type { CatalogEntry } from '../../src/domain/job-failures.ts';
import { generatedNotice } from './generated-notice.ts';

/** Generates docs/errors.md from the failure catalog and the reject reasons. */
export function errorsPage(): string {
  const entries: [string, CatalogEntry][] = Object.entries(failureCatalog);
  const responseCodes = entries.filter(([, entry]) => entry.status !== undefined);
  const others = entries.filter(([, entry]) => entry.status === undefined);
  const records = others.filter(([, entry]) => !entry.isOfCommand);
  const commands = others.filter(([, entry]) => entry.isOfCommand);
  return [
    '# Errors',
    '',
    generatedNotice('src/domain/failure-catalog.ts, packages/row-rule/src/file-faults.ts and row-rule.ts'),
    '',
    'Every failure has a stable code. HTTP responses carry it in the `code` member of an `application/problem+json` body,',
    'and records carry it in `errors[].code`.',
    '',
    '## API responses',
    '',
    ...responseCodes.flatMap(section),
    '## Job and file failures',
    '',
    'These codes appear in records with status 3, never in an HTTP response.',
    '',
    ...records.flatMap(section),
    '## Operator command failures',
    '',
    'The command prints these codes to standard error and exits 1.',
    '',
    ...commands.flatMap(section),
    '## Rejected rows',
    '',
    'A rejected row has the first reason that applies, in this order. `row` is the line number in the file, starting at 1.',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...Object.entries(rejectReasons).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
    '',
  ].join('\n');
}

function section([code, entry]: [string, CatalogEntry]): string[] {
  const status = entry.status === undefined ? '' : ` (${entry.status})`;
  return [
    `### \`${code}\`${status}`,
    '',
    `${entry.title}.`,
    '',
    `- **Cause:** ${entry.cause}`,
    `- **Remedy:** ${entry.remedy}`,
    `- **Retryable:** ${entry.isRetryable ? 'yes' : 'no'}`,
    '',
  ];
}
