import { installPacked } from '../scripts/packages/install-packed.ts';
import { readExamples, runExample, writeExampleFiles } from '../scripts/sdk/examples.ts';
import { programOf, runtimes } from '../scripts/sdk/runtimes.ts';
import { readAddresses } from '../stack/addresses.ts';
import { printError, messageOf, printLine, secondsSince } from '../stack/output.ts';
import { requireDemoSession } from './demo-session.ts';

// Runs the examples in the SDK's README on every supported runtime with the packed SDK. Requires a running `npm run
// dev`.

try {
  await main();
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const session = await requireDemoSession();
  const { url, apiKey, bucket, prefix, accessKeyId, secretAccessKey } = session;
  const { endpoint, region } = readAddresses().s3;
  const { folder, remove } = installPacked('sdk');
  try {
    await writeExampleFiles(folder, {
      url,
      apiKey,
      storage: { endpoint, region, bucket, prefix, accessKeyId, secretAccessKey },
    });
    for (const runtime of runtimes) {
      const program = programOf(runtime);
      for (const example of readExamples()) {
        const start = performance.now();
        const printed = (await runExample(folder, program, example)).split('\n');
        const missing = example.prints.filter((line) => !printed.includes(line));
        if (missing.length > 0)
          throw new Error(`${runtime.name}, ${example.title}: did not print ${missing.join('; ')}`);
        printLine(`${runtime.name.padEnd(10)} ${example.title} (${secondsSince(start)})`);
      }
    }
  } finally {
    remove();
  }
}
