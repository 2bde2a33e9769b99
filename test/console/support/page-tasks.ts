import type { Page } from 'playwright-core';
import { z } from 'zod';
import { openCompletely } from './measure.ts';

/** An event in Chromium's trace. Times are in microseconds. */
const traceEvent = z.object({
  name: z.string(),
  ph: z.string(),
  pid: z.int(),
  tid: z.int(),
  ts: z.number(),
  dur: z.number().default(0),
  /** The processor time of the event, not including the time during which other threads and processes ran. */
  tdur: z.number().default(0),
  args: z.looseObject({}).default({}),
});
type TraceEvent = z.infer<typeof traceEvent>;

/**
 * Opens a page, and returns the processor time of each task of the page's main thread, in milliseconds. Unlike
 * durations, these times do not include the work of the servers and the other browser processes, which run on the same
 * processors in a test but not on a reader's device.
 */
export async function measureTasks(page: Page, path: string): Promise<readonly number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('The page has no browser of its own.');
  await browser.startTracing(page, {
    categories: ['__metadata', 'toplevel', 'devtools.timeline', 'blink.user_timing'],
  });
  await openCompletely(page, path);
  const trace: unknown = JSON.parse((await browser.stopTracing()).toString());
  const { traceEvents } = z.object({ traceEvents: z.array(traceEvent) }).parse(trace);
  return tasksAfterNavigation(traceEvents, path).map(({ tdur }) => tdur / 1_000);
}

function tasksAfterNavigation(events: readonly TraceEvent[], path: string): readonly TraceEvent[] {
  const start = events.findLast(({ name, args }) => name === 'navigationStart' && JSON.stringify(args).includes(path));
  if (!start) throw new Error(`The trace does not contain the navigation to ${path}.`);
  const main = events.find(
    ({ name, pid, args }) => name === 'thread_name' && pid === start.pid && args['name'] === 'CrRendererMain',
  );
  const tasks = events
    .filter(({ name, ph, tid, pid, ts }) => {
      return name.endsWith('RunTask') && ph === 'X' && pid === main?.pid && tid === main.tid && ts >= start.ts;
    })
    .toSorted((one, other) => one.ts - other.ts || other.dur - one.dur);
  return withoutNested(tasks);
}

function withoutNested(tasks: readonly TraceEvent[]): readonly TraceEvent[] {
  let end = 0;
  return tasks.filter(({ ts, dur }) => {
    if (ts < end) return false;
    end = ts + dur;
    return true;
  });
}
