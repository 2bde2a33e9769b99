import { rejectReasons } from '@inlet/row-rule/reject-reason';
import { type CatalogueEntry, failureCatalogue } from '../../src/domain/failure-catalogue.ts';
import { generatedNotice } from './generated-notice.ts';

/** docs/errors.md, from the failure catalogue and the reject reasons. */
export function errorsPage(): string {
  const entries: [string, CatalogueEntry][] = Object.entries(failureCatalogue);
  const answers = entries.filter(([, entry]) => entry.status !== undefined);
  const others = entries.filter(([, entry]) => entry.status === undefined);
  const records = others.filter(([, entry]) => !entry.isOfCommand);
  const refusals = others.filter(([, entry]) => entry.isOfCommand);
  return [
    '# Errors',
    '',
    generatedNotice('src/domain/failure-catalogue.ts, packages/row-rule/src/file-faults.ts and reject-reason.ts'),
    '',
    'Every failure has a stable code. An HTTP answer carries it in `code` of an `application/problem+json` body,',
    'a record in `errors[].code`.',
    '',
    '## Answers of the API',
    '',
    ...answers.flatMap(section),
    '## Failures of a job or a file',
    '',
    'They stand on the record (status 3), never in an HTTP answer.',
    '',
    ...records.flatMap(section),
    "## Refusals of an operator's command",
    '',
    'They stand on standard error, and the command ends with 1.',
    '',
    ...refusals.flatMap(section),
    '## Refused rows',
    '',
    'A row ends with the first reason that applies, in this order. `row` is the line number in the file, from 1.',
    '',
    '| Code | Meaning |',
    '|---|---|',
    ...Object.entries(rejectReasons).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
    '',
  ].join('\n');
}

function section([code, entry]: [string, CatalogueEntry]): string[] {
  const status = entry.status === undefined ? '' : ` (${entry.status})`;
  return [
    `### \`${code}\`${status}`,
    '',
    `${entry.title}.`,
    '',
    `- **Cause:** ${entry.cause}`,
    `- **Remedy:** ${entry.remedy}`,
    '',
  ];
}
