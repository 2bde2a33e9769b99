// A model of the warehouse that computes its expected content after a sequence of jobs. It implements all rules for the
// warehouse.

export type ModelRow = { readonly device: string; readonly isDelete: boolean; readonly attributes: readonly number[] };

export type ModelJob =
  | { readonly kind: 'merge' | 'replace'; readonly files: readonly (readonly ModelRow[])[] }
  | { readonly kind: 'delete'; readonly attributes: readonly number[] };

/** Pairs of attribute and device, as `attribute device`. */
export type ModelState = Set<string>;

export function applyJob(state: ModelState, job: ModelJob): void {
  if (job.kind === 'delete') return removeAttributes(state, job.attributes);
  const rows = job.files.flat();
  if (job.kind === 'replace')
    removeAttributes(
      state,
      rows.flatMap(({ attributes }) => attributes),
    );
  for (const isDelete of [true, false]) {
    for (const row of rows.filter((candidate) => candidate.isDelete === isDelete)) {
      for (const attribute of row.attributes) {
        if (isDelete) state.delete(`${attribute} ${row.device}`);
        else state.add(`${attribute} ${row.device}`);
      }
    }
  }
}

function removeAttributes(state: ModelState, attributes: readonly number[]): void {
  for (const pair of state) if (attributes.includes(Number(pair.split(' ')[0]))) state.delete(pair);
}
