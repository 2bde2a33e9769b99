import { parseArgs } from 'node:util';
import { setup } from '../support/global-setup.ts';
import { runChaos } from './chaos.ts';

const usage = 'Usage: npm run chaos -- [--minutes 30] [--seed N] [--partners 200] [--workers 4] [--replicas 1|2]';
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    partners: { type: 'string', default: '200' },
    workers: { type: 'string', default: '4' },
    replicas: { type: 'string', default: '1' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const partners = Number(values.partners);
const workers = Number(values.workers);
const replicas = values.replicas === '2' ? 2 : 1;
if (!(minutes > 0 && partners > 0 && workers > 0 && Number.isSafeInteger(seed))) throw new Error(usage);

await setup();
const { findings } = await runChaos({ minutes, seed, partners, workers, replicas });
process.exit(findings.length === 0 ? 0 : 1);
