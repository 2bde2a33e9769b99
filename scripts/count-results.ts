import { readFile } from 'node:fs/promises';
import { z } from 'zod';

// The closing lines of CI: what failed, by name and with its first lines, so that the end of the output says it; then gates
// and tests together. A suite without a report counts as failed.

const testSchema = z.object({
  status: z.string(),
  fullName: z.string(),
  failureMessages: z.array(z.string()).nullish(),
});
const fileSchema = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string().nullish(),
  assertionResults: z.array(testSchema),
});
const reportSchema = z.object({
  success: z.boolean(),
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  testResults: z.array(fileSchema),
});

const linesOfAMessage = 12;

function say(where: string, message: string): void {
  const lines = message.trim().split('\n').slice(0, linesOfAMessage);
  process.stdout.write(`FAILED: ${where}\n${lines.map((line) => `    ${line}\n`).join('')}`);
}

const [gatesPassed = '0', gatesFailed = '0', ...reports] = process.argv.slice(2);
let passed = Number(gatesPassed);
let failed = Number(gatesFailed);
for (const report of reports) {
  const text = await readFile(report, 'utf8').catch(() => '{}');
  const parsed = reportSchema.safeParse(JSON.parse(text));
  if (!parsed.success) {
    failed += 1;
    say(report, 'The suite ended without a report.');
    continue;
  }
  const { success, numPassedTests, numFailedTests, testResults } = parsed.data;
  passed += numPassedTests;
  // A suite can fail without a failed test: a hook, an import, an unhandled error.
  failed += success ? 0 : Math.max(1, numFailedTests);
  if (!success && numFailedTests === 0)
    say(report, 'No test failed, but a hook, an import, or an error outside of tests.');
  for (const { name, status, message, assertionResults } of testResults) {
    const failedTests = assertionResults.filter((test) => test.status === 'failed');
    for (const test of failedTests) say(`${name}: ${test.fullName}`, (test.failureMessages ?? []).join('\n'));
    if (status === 'failed' && failedTests.length === 0) say(name, message ?? '');
  }
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
