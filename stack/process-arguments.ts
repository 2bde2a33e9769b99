/**
 * Node flags of a worker. A worker streams many bytes through short-lived buffers, while its heap stays at about 30 MB.
 * By default, Node marks the whole heap for every 25 MB of buffers, which took two thirds of a worker's CPU time. The
 * first flag keeps the young generation minimal, so that buffers are collected early and cheaply. The other two flags
 * delay marking until the heap and the buffers together reach 96 MB. With the first flag, a load of 207 MB takes 0.9 s
 * of CPU time instead of 2.6 s. With the other two flags, a load of 22 MB takes 0.25 s instead of 0.4 s.
 */
const workerFlags = [
  '--max-semi-space-size=1',
  '--external-memory-accounted-in-global-limit',
  '--initial-old-space-size=96',
];

export function processArguments(entry: 'api' | 'worker'): string[] {
  return [...(entry === 'worker' ? workerFlags : []), `src/entry/${entry}.ts`];
}
