import { readFile } from 'node:fs/promises';
import { basename, relative } from 'node:path';
import { z } from 'zod';

// Prints the summary of the gate: the duration of each step and of each suite's slowest files, every failure by name,
// and the totals. The first argument is the table of steps (name, seconds, and exit code). The other arguments are the
// report files of the suites without `.json`. A suite without a report counts as failed.

const testSchema = z.object({
  status: z.string(),
  fullName: z.string(),
  failureMessages: z.array(z.string()).nullish(),
});
const fileSchema = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string().nullish(),
  startTime: z.number(),
  endTime: z.number(),
  assertionResults: z.array(testSchema),
});
const reportSchema = z.object({
  success: z.boolean(),
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  testResults: z.array(fileSchema),
});
type Report = z.infer<typeof reportSchema>;

const maxMessageLines = 12;
const slowestFiles = 5;
const suitePrefix = 'suite: ';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const printRow = (seconds: number, name: string): void => print(`${seconds.toFixed(0).padStart(6)}  ${name}`);

function printFailure(where: string, message: string): void {
  print(`FAILED: ${where}`);
  for (const line of message.trim().split('\n').slice(0, maxMessageLines)) print(`    ${line}`);
}

function printSlowestFiles({ testResults }: Report): void {
  const files = testResults.map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }));
  for (const { name, seconds } of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestFiles))
    printRow(seconds, `    ${relative('.', name)}`);
}

function printFailuresOf(suite: string, { success, numFailedTests, testResults }: Report): void {
  if (!success && numFailedTests === 0)
    printFailure(suite, 'No test failed, but a hook, an import, or code outside the tests failed.');
  for (const { name, status, message, assertionResults } of testResults) {
    const failedTests = assertionResults.filter((test) => test.status === 'failed');
    for (const test of failedTests) printFailure(`${name}: ${test.fullName}`, (test.failureMessages ?? []).join('\n'));
    if (status === 'failed' && failedTests.length === 0) printFailure(name, message ?? '');
  }
}

async function readReport(path: string): Promise<Report | null> {
  const text = await readFile(`${path}.json`, 'utf8').catch(() => '{}');
  return reportSchema.safeParse(JSON.parse(text)).data ?? null;
}

const [stepsFile = '', ...paths] = process.argv.slice(2);
const steps = (await readFile(stepsFile, 'utf8'))
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([name = '', seconds, code]) => ({ name, seconds: Number(seconds), code: Number(code) }));
const reports = new Map<string, Report | null>();
for (const path of paths) reports.set(basename(path), await readReport(path));

print('\nSeconds per step, with the slowest files of each suite. Steps that run in parallel overlap:');
for (const { name, seconds } of steps) {
  printRow(seconds, name);
  const report = name.startsWith(suitePrefix) ? reports.get(name.slice(suitePrefix.length)) : null;
  if (report) printSlowestFiles(report);
}

// The tests of a suite are counted one by one below.
const others = steps.filter(({ name }) => !name.startsWith(suitePrefix));
let passed = others.filter(({ code }) => code === 0).length;
let failed = others.length - passed;
for (const { name } of others.filter(({ code }) => code !== 0)) print(`FAILED: ${name}`);
for (const [suite, report] of reports) {
  if (report) {
    passed += report.numPassedTests;
    // A suite can fail without a failed test, for example because of a hook, an import, or an unhandled error.
    failed += report.success ? 0 : Math.max(1, report.numFailedTests);
    printFailuresOf(suite, report);
  } else {
    failed += 1;
    printFailure(suite, 'The suite ended without a report.');
  }
}
print(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
