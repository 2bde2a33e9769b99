// Which of two rows of the same device and attribute stands: the one with the higher version. Later jobs win over
// earlier ones, and within one job an add wins over a delete (decision 12).

export type JobVersions = { readonly ofDeletes: number; readonly ofAdds: number };

export function versionsOfJob(seq: number): JobVersions {
  return { ofDeletes: seq * 2, ofAdds: seq * 2 + 1 };
}
