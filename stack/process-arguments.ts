/**
 * How Node is started for a process of Inlet. A worker passes many bytes on in short-lived buffers, on a heap of 30 MB that
 * hardly changes. Node marks that heap as a whole for every 25 MB of buffers, which cost two thirds of a worker's processor
 * time. With the smallest young generation buffers are found to be garbage early and cheaply; and with the other two, marking
 * begins when heap and buffers together reach 96 MB. Measured: a load of 207 MB costs 0.9 s instead of 2.6 s by the first, one
 * of 22 MB 0.25 s instead of 0.4 s by the other two.
 */
const workerFlags = [
  '--max-semi-space-size=1',
  '--external-memory-accounted-in-global-limit',
  '--initial-old-space-size=96',
];

export function processArguments(entry: 'api' | 'worker'): string[] {
  return [...(entry === 'worker' ? workerFlags : []), `src/entry/${entry}.ts`];
}
