import type { LaneStore } from '../ports/lane-store.ts';
import type { RequestWindows } from '../ports/request-windows.ts';

/** How often, over all workers together; each asks as often. */
export const windowsEverySeconds = 300;

/** A key that is used no more leaves the row of its last window behind. */
export async function sweepRequestWindows(deps: { lanes: LaneStore; requestWindows: RequestWindows }): Promise<void> {
  if (await deps.lanes.takeTurn('sweep request windows', windowsEverySeconds)) await deps.requestWindows.sweep();
}
