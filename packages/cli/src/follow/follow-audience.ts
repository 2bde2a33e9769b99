import type { AudienceDetails, Inlet } from '@inlet/sdk';
import { valueOf } from '../failures/api-errors.ts';
import { CliFailure, exitCode, interrupted } from '../failures/cli-failure.ts';
import { countOf, several, statusWord } from '../terminal/format.ts';
import { type Output, untilInterrupted } from '../terminal/output.ts';
import { Rate } from '../terminal/progress-bar.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { describeProgress, progressLine } from './describe-import.ts';
import { progressReport, withReasons } from './follow-import.ts';

/** Shows the progress of an audience until no file is pending or loading, and then its outcome. */
export async function followAudience(inlet: Inlet, audienceId: number, output: Output): Promise<void> {
  const report = progressReport<AudienceDetails>(output);
  const rate = new Rate();
  // Without a terminal, omit the bar and the rate, because they change with every update.
  const lineOf = (record: AudienceDetails): string =>
    output.isLive ? barOfAudience(record, rate.perSecond, output.stderr.columns - 1) : describeAudience(record);
  const onProgress = (record: AudienceDetails): void => {
    rate.note(record.progress.bytes_read);
    if (record.status < 2) report.show(record, [lineOf(record)]);
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
  const { status, processed_files: processed, total_files: total, failed_files: failed } = record;
  const devices = [several(record.unique_devices, 'device'), `${several(record.matched_devices, 'device')} matched`];
  return [
    `${nameOf(record)}: ${statusWord(record)}`,
    `${countOf(processed)} of ${several(total, 'file')} processed`,
    ...(failed === 0 ? [] : [`${countOf(failed)} failed`]),
    ...(status < 2 ? describeProgress(record) : devices),
  ].join(', ');
}

/** Describes the progress of an audience with a bar while files are read. */
function barOfAudience(record: AudienceDetails, bytesPerSecond: number | null, columns: number): string {
  const { status, progress } = record;
  if (status !== 1 || progress.queue_position > 0) return describeAudience(record);
  return progressLine(nameOf(record), progress, bytesPerSecond, columns);
}

function nameOf({ audience_id }: AudienceDetails): string {
  return `audience ${escapeTerminal(String(audience_id))}`;
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
