/** Files up to this size are loaded together: the cost of a load is mostly its own, not that of its rows. */
const smallFileBytes = 1024 * 1024;

/** How large a batch of them may become. Several can then be staged at a time, and one bad batch is not all of it. */
const batchBytes = 64 * 1024 * 1024;
const batchFiles = 250;

/** Which files are loaded together: large ones alone, small ones with their neighbours. */
export function intoBatches<File extends { readonly size: number }>(files: readonly File[]): File[][] {
  const batches: File[][] = [];
  let open: { files: File[]; bytes: number } | null = null;
  for (const file of files) {
    if (file.size > smallFileBytes) {
      batches.push([file]);
      continue;
    }
    if (!open || open.files.length === batchFiles || open.bytes + file.size > batchBytes) {
      open = { files: [], bytes: 0 };
      batches.push(open.files);
    }
    open.files.push(file);
    open.bytes += file.size;
  }
  return batches;
}
