/**
 * Which of two rows of the same device and attribute stands: the one with the higher version.
 * Later jobs win over earlier ones, and within one job an add wins over a delete (decision 12).
 */
export function versionOfAdds(jobSeq: number): number {
  return jobSeq * 2 + 1;
}
