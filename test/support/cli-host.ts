// Runs operator commands one after another in one process, which loads Inlet's modules once. `run-operator.ts` starts
// this process. Every command has the arguments, environment, and output streams that a separate process would have.

type Command = { readonly parameters: readonly string[]; readonly environment: Readonly<Record<string, string>> };

const entry = new URL('../../src/entry/cli.ts', import.meta.url).href;
const program = process.argv.slice(0, 2);
const written = { out: '', err: '' };
let serial = 0;

const collect =
  (name: keyof typeof written) =>
  (chunk: string | Uint8Array): boolean => {
    written[name] += chunk.toString();
    return true;
  };
process.stdout.write = collect('out');
process.stderr.write = collect('err');

async function run({ parameters, environment }: Command): Promise<void> {
  Object.assign(written, { out: '', err: '' });
  process.argv = [...program, ...parameters];
  // oxlint-disable-next-line node/no-process-env -- commands read it
  process.env = { ...environment };
  process.exitCode = undefined;
  serial += 1;
  // The query string makes Node run the entry module again. The modules that it imports stay loaded.
  await import(`${entry}?run=${serial}`);
  process.stdout.removeAllListeners('error');
}

process.on('message', (command: Command) => {
  void run(command).then(() => process.send?.({ code: process.exitCode ?? 0, ...written }));
});
