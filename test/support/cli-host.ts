// Runs operator commands one after the other in one process, which loads Inlet's modules once: `run-operator.ts` starts it.
// Every command has the arguments, the environment and the output streams that a process of its own would have.

type Command = { readonly parameters: readonly string[]; readonly environment: Readonly<Record<string, string>> };

const entry = new URL('../../src/entry/cli.ts', import.meta.url).href;
const program = process.argv.slice(0, 2);
let serial = 0;

async function run({ parameters, environment }: Command): Promise<void> {
  const written = { out: '', said: '' };
  const streams = { out: process.stdout, said: process.stderr };
  const write = { out: process.stdout.write, said: process.stderr.write };
  for (const name of ['out', 'said'] as const) {
    streams[name].write = (chunk: string | Uint8Array): boolean => {
      written[name] += chunk.toString();
      return true;
    };
  }
  process.argv = [...program, ...parameters];
  // oxlint-disable-next-line node/no-process-env -- commands read it
  process.env = { ...environment };
  process.exitCode = 0;
  serial += 1;
  try {
    // A query makes the entry module run again; the modules that it imports stay loaded.
    await import(`${entry}?run=${serial}`);
  } finally {
    for (const name of ['out', 'said'] as const) streams[name].write = write[name];
    process.stdout.removeAllListeners('error');
  }
  process.send?.({ code: Number(process.exitCode), ...written });
}

process.on('message', (command: Command) => void run(command));
