import { parseArgs } from 'node:util';
import { setup } from '../support/global-setup.ts';
import { violationsOf } from './find-violations.ts';
import { fuzz } from './fuzz.ts';
import { startFuzzedService } from './fuzzed-service.ts';

// Sends random requests that are generated from the OpenAPI document to a real API. The same seed generates the same
// requests, except for IDs from responses. Concurrency depends on the machine.

const usage = 'Usage: npm run fuzz -- [--requests 20000] [--seed N] [--seconds 3600]';
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    seconds: { type: 'string', default: '3600' },
  },
});
const wanted = { requests: Number(values.requests), seed: Number(values.seed), seconds: Number(values.seconds) };
if (!(wanted.requests > 0 && wanted.seconds > 0 && Number.isSafeInteger(wanted.seed))) throw new Error(usage);

await setup();
const service = await startFuzzedService();
const figures = await fuzz(service, wanted);
const violations = violationsOf(figures, wanted, service.isRunning());
process.stdout.write(`${JSON.stringify({ ...figures, violations }, null, 2)}\n`);
await service.stop();
process.exitCode = violations.length === 0 ? 0 : 1;
