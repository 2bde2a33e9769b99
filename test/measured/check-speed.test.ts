import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuOfEndedChildren } from '../support/cpu-time.ts';
import { runInlet } from '../support/run-inlet.ts';

// Runs `inlet check` on a typical marketplace file with 300 attributes and one or two keys per row. Measures CPU time
// including startup, because CPU time does not depend on other load on the machine.

const rows = 2_000_000;
const minPerSecond = 500_000;

describe('inlet check', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-speed-'));
    const lines = Array.from({ length: rows }, (_, n) => {
      const digits = randomBytes(16).toString('hex');
      const id = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
      return `${id},segment-${n % 300}${n % 3 === 0 ? `|segment-${(n * 7) % 300}` : ''}\n`;
    });
    const content = Buffer.from(lines.join(''));
    writeFileSync(join(folder, 'rows.csv'), content);
    writeFileSync(join(folder, 'rows.csv.gz'), gzipSync(content, { level: 1 }));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(['rows.csv', 'rows.csv.gz'])('validates at least half a million rows per second: %s', async (name) => {
    const before = cpuOfEndedChildren();
    const start = performance.now();
    const { code, out } = await runInlet({ HOME: folder }, ['check', join(folder, name), '--json']);
    const seconds = cpuOfEndedChildren() - before;
    const perSecond = Math.round(rows / seconds);
    const perWallSecond = Math.round(rows / ((performance.now() - start) / 1000));
    expect(code).toBe(0);
    expect(out).toContain(`"good_rows": ${rows}`);
    process.stdout.write(
      `${name}: ${perSecond} rows per second of processor time, ${perWallSecond} per second of wall time\n`,
    );
    expect(perSecond).toBeGreaterThan(minPerSecond);
  });
});
