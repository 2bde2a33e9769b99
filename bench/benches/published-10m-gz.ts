import type { Bench } from '../bench.ts';
import { loadBench } from '../load-against-bare-engine.ts';

export const bench: Bench = loadBench({
  title: 'Publish a gzipped file of 10 million rows, without counting',
  goal: 1.15,
  path: 'members.csv.gz',
  until: 'published',
});
