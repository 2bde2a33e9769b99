import { readFile } from 'node:fs/promises';
import { z } from 'zod';

// The closing line of CI: gates and tests together. A suite without a report counts as failed.

const reportSchema = z.object({
  success: z.boolean(),
  numPassedTests: z.int(),
  numFailedTests: z.int(),
});

const [gatesPassed = '0', gatesFailed = '0', ...reports] = process.argv.slice(2);
let passed = Number(gatesPassed);
let failed = Number(gatesFailed);
for (const report of reports) {
  const text = await readFile(report, 'utf8').catch(() => '{}');
  const parsed = reportSchema.safeParse(JSON.parse(text));
  if (!parsed.success) {
    failed += 1;
    continue;
  }
  passed += parsed.data.numPassedTests;
  // A suite can fail without a failed test: a hook, an import, an unhandled error.
  failed += parsed.data.success ? 0 : Math.max(1, parsed.data.numFailedTests);
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
