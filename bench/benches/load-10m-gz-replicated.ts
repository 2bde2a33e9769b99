import type { Bench } from '../bench.ts';
import { loadBench } from '../load-against-bare-engine.ts';

export const bench: Bench = loadBench({
  title:
    'Load an audience from a gzipped file of 10 million rows on two shards with two replicas each, with 20 million known devices',
  goal: 1.4,
  path: 'members.csv.gz',
  until: 'done',
  topology: 'replicated',
});
