import { csrfToken } from '../api.ts';
import { saveFile } from '../components/save-file.ts';
import type { ReportQuery } from './use-report.ts';

/** Saves all entries of the view as a file. Returns an error message, or null. */
export async function exportCsv(segmentId: number, query: ReportQuery): Promise<string | null> {
  const { name: _name, small: _small, ...all } = query;
  const parameters = new URLSearchParams(Object.entries(all).map(([name, value]) => [name, String(value)]));
  const response = await fetch(
    `/v2/firstparty/segments/${encodeURIComponent(segmentId)}/composition?${parameters.toString()}`,
    { headers: { accept: 'text/csv', 'x-csrf-token': csrfToken.value } },
  ).catch(() => null);
  if (!response) return 'The API did not respond. Check your connection.';
  if (!response.ok) return detailOf(await response.json().catch(() => null));
  saveFile(
    await response.blob(),
    `composition-${segmentId}${query.split === undefined ? '' : `-by-${query.split}`}.csv`,
  );
  return null;
}

function detailOf(problem: unknown): string {
  return typeof problem === 'object' && problem !== null && 'detail' in problem
    ? String(problem.detail)
    : 'The export failed. Try again.';
}
