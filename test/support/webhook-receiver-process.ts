import { startReceiver } from './webhook-receiver.ts';

// A receiver that accepts every request and runs as a process that a test can kill. Prints each request before it
// responds. A write to a pipe is synchronous, so a killed process has printed every request that it has accepted.

const [port = '0'] = process.argv.slice(2);
const receiver = await startReceiver(Number(port), (event) => process.stdout.write(`${JSON.stringify(event)}\n`));
process.stdout.write(`${receiver.url}\n`);
