import type { ImportLog } from '@inlet/sdk';
import { setTimeout as pause } from 'node:timers/promises';
import { CliFailure, exitCode, interrupted } from '../failures/cli-failure.ts';
import { type Output, untilInterrupted } from '../terminal/output.ts';
import { live } from '../terminal/progress-bar.ts';
import { describeImport, importTable } from './describe-import.ts';

const pollIntervalMs = 2_000;

/**
 * Shows the list until it contains no open jobs. Returns a job that failed in the meantime, or null. Without a
 * terminal, prints each change to a job that was open at the start or was added later.
 */
export async function watchImports(
  list: (signal: AbortSignal) => Promise<readonly ImportLog[]>,
  output: Output,
  intervalMs: number = pollIntervalMs,
): Promise<ImportLog | null> {
  const screen = output.isLive ? live(output.stderr) : null;
  const printed = new Map<number, string>();
  let isFirst = true;
  const poll = async (signal: AbortSignal): Promise<readonly ImportLog[]> => {
    const records = await list(signal);
    for (const record of records) {
      const id = record.import_log_id;
      const line = describeImport(record);
      const hasChanged = printed.has(id) ? printed.get(id) !== line : !isFirst || record.status < 2;
      if (hasChanged) {
        printed.set(id, line);
        if (!screen && (output.isJson || !output.isQuiet)) output.line(record, () => line);
      }
    }
    isFirst = false;
    screen?.draw(importTable(records, output.stderr, 'plain').split('\n'));
    return records;
  };
  try {
    return await untilInterrupted(async (signal) => {
      for (;;) {
        const records = await poll(signal);
        if (records.every(({ status }) => status > 1)) {
          screen?.clear();
          if (!output.isJson) output.result(records, () => importTable(records, output.stdout));
          return records.find(({ import_log_id, status }) => status === 3 && printed.has(import_log_id)) ?? null;
        }
        await pause(intervalMs, undefined, { signal });
      }
    });
  } catch (error) {
    const isStopped = error instanceof Error && error.name === 'AbortError';
    const isAborted = error instanceof CliFailure && error.details.exitCode === exitCode.interrupted;
    if (isStopped || isAborted) throw interrupted('The jobs continue. List them with: inlet imports');
    throw error;
  }
}
