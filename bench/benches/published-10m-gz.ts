import type { Bench } from '../bench.ts';
import { loadBench } from '../load-against-bare-engine.ts';

export const bench: Bench = loadBench({
  title: 'The rows of a gzipped file of 10 million rows in the final table, before anything is counted',
  goal: 1.15,
  path: 'members.csv.gz',
  until: 'published',
});
