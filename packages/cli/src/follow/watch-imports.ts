import type { ImportLog } from '@inlet/sdk';
import { setTimeout as pause } from 'node:timers/promises';
import { CliFailure, exitCode, interrupted } from '../failures/cli-failure.ts';
import { type Output, untilInterrupted } from '../terminal/output.ts';
import { live } from '../terminal/progress-bar.ts';
import { describeImport, importTable } from './describe-import.ts';

const betweenLooksMs = 2_000;

/**
 * Shows the list until nothing in it is open. Gives one that failed meanwhile. Off a terminal it says each change of a
 * job that was open when it began or came later.
 */
export async function watchImports(
  list: (signal: AbortSignal) => Promise<readonly ImportLog[]>,
  output: Output,
  betweenMs: number = betweenLooksMs,
): Promise<ImportLog | null> {
  const screen = output.isLive ? live(output.stderr) : null;
  const said = new Map<number, string>();
  let isFirst = true;
  const look = async (signal: AbortSignal): Promise<readonly ImportLog[]> => {
    const records = await list(signal);
    for (const record of records) {
      const id = record.import_log_id;
      const line = describeImport(record);
      const isNews = said.has(id) ? said.get(id) !== line : !isFirst || record.status < 2;
      if (isNews) {
        said.set(id, line);
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
        const records = await look(signal);
        if (records.every(({ status }) => status > 1)) {
          screen?.clear();
          if (!output.isJson) output.result(records, () => importTable(records, output.stdout));
          return records.find(({ import_log_id, status }) => status === 3 && said.has(import_log_id)) ?? null;
        }
        await pause(betweenMs, undefined, { signal });
      }
    });
  } catch (error) {
    const isStopped = error instanceof Error && error.name === 'AbortError';
    const isAborted = error instanceof CliFailure && error.told.exitCode === exitCode.interrupted;
    if (isStopped || isAborted) throw interrupted('The jobs go on. See them with: inlet imports');
    throw error;
  }
}
