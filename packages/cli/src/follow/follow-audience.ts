import type { AudienceDetails, Inlet } from '@inlet/sdk';
import { valueOf } from '../failures/api-errors.ts';
import { CliFailure, exitCode, interrupted } from '../failures/cli-failure.ts';
import { countOf, several, statusWord } from '../terminal/format.ts';
import { type Output, untilInterrupted } from '../terminal/output.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { progressReport, withReasons } from './follow-import.ts';

/** Shows the progress of an audience until no file is pending or loading, and then its outcome. */
export async function followAudience(inlet: Inlet, audienceId: number, output: Output): Promise<void> {
  const report = progressReport<AudienceDetails>(output);
  const onProgress = (record: AudienceDetails): void => {
    if (record.status < 2) report.show(record, [describeAudience(record)]);
  };
  const ended = await untilInterrupted((signal) =>
    inlet.waitFor({ audience_id: audienceId }, { includeFiles: false, onProgress, signal }),
  );
  report.end();
  if (!ended.ok && ended.problem.code === 'aborted') {
    throw interrupted(
      `Audience ${audienceId} continues to load. Follow it with: inlet audience show ${audienceId} --watch`,
    );
  }
  // With --json, the last line lists the files.
  const record = output.isJson ? valueOf(await inlet.getAudience(audienceId)) : valueOf(ended);
  output.line(record, () => withReasons(describeAudience(record), record, output.stdout));
  if (record.status === 3) throw failureOfAudience(record);
}

export function describeAudience(record: AudienceDetails): string {
  const { processed_files: processed, total_files: total, failed_files: failed } = record;
  return [
    `audience ${escapeTerminal(String(record.audience_id))}: ${statusWord(record)}`,
    `${countOf(processed)} of ${several(total, 'file')} processed`,
    ...(failed === 0 ? [] : [`${countOf(failed)} failed`]),
    several(record.unique_devices, 'device'),
    `${several(record.matched_devices, 'device')} matched`,
  ].join(', ');
}

function failureOfAudience({ audience_id: id }: AudienceDetails): CliFailure {
  return new CliFailure({
    code: 'audience_failed',
    title: `audience ${id} failed`,
    detail: 'At least one file was not loaded.',
    remedy: `List the errors: inlet errors ${id} --audience`,
    exitCode: exitCode.failed,
  });
}
