import { monitorEventLoopDelay } from 'node:perf_hooks';

// A benchmark preloads this file into a process to measure its event loop. On SIGUSR2, the process prints the 99th
// percentile of the delay since the last signal, in seconds.

const intervalMs = 10;
const intervals = monitorEventLoopDelay({ resolution: intervalMs });
intervals.enable();

process.on('SIGUSR2', () => {
  // Node.js records the time between two samples, which includes the sampling interval.
  const delay = intervals.percentile(99) / 1e9 - intervalMs / 1000;
  process.stdout.write(`event loop delay: ${Math.max(0, delay)}\n`);
  intervals.reset();
});
