import type { ImportLog, Inlet } from '@inlet/sdk';
import { interrupted } from '../failures/cli-failure.ts';
import { valueOf } from '../failures/value-of.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import type { Output } from '../terminal/output.ts';
import { Rate } from '../terminal/rate.ts';
import { barOfImport, describeImport, nameOfJob } from './describe-import.ts';
import { sayEnd } from './end-of-import.ts';
import { progressReport } from './progress-report.ts';

/** Shows how a job goes on until it has ended, and says how. */
export async function followImport(inlet: Inlet, importLogId: number, output: Output): Promise<void> {
  const report = progressReport<ImportLog>(output);
  const rate = new Rate();
  // A bar and a rate change with every look: as lines of a log they would only be noise.
  const lineOf = (record: ImportLog): string =>
    output.isLive ? barOfImport(record, rate.perSecond, output.stderr.columns - 1) : describeImport(record);
  let name = `import ${importLogId}`;
  const onProgress = (record: ImportLog): void => {
    name = nameOfJob(record);
    rate.note(record.progress.bytes_read);
    if (record.status < 2) report.show(record, [lineOf(record)]);
  };
  const ended = await untilInterrupted((signal) =>
    inlet.waitFor({ import_log_id: importLogId }, { onProgress, signal }),
  );
  report.end();
  if (!ended.ok && ended.problem.code === 'aborted') {
    throw interrupted(`${name} goes on. Follow it again with: inlet imports ${importLogId} --watch`);
  }
  sayEnd(valueOf(ended), output);
}
