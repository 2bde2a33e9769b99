import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { stopAt } from '../../src/entry/failpoints.ts';
import type { FaultPartner } from '../fault/fault-partner.ts';
import { submitOneOfEach, members, stagingTableBytes } from '../fault/submit-one-of-each.ts';
import { type TestCluster, startTestCluster } from '../fault/test-cluster.ts';
import { copyTree } from '../gates/tree-copy.ts';
import { device } from '../support/device-id.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Bug, bugs } from './bugs.ts';
import { withBug } from './with-bug.ts';

// Proves that the auditor detects bugs. Each bug is planted in a copy of the repository, whose processes then serve one
// request of each kind. The auditor must report the bug. Without a bug, it must report nothing.

const settings = { INLET_ROOM_BYTES: String(stagingTableBytes), INLET_PURGE_SECONDS: '1' };
/** Longer than any request takes without a bug. */
const timeoutSeconds = 40;

/** A resumed worker commits within this time. */
const resumeMs = 3_000;

/** A bug can make a request wait forever. */
async function withTimeout(submitting: Promise<void>): Promise<void> {
  await Promise.race([submitting.catch(() => undefined), pause(timeoutSeconds * 1000, undefined, { ref: false })]);
}

async function withSuspendedWorker(
  cluster: TestCluster,
  { stopAt: point = '', stopNextAt, first, meanwhile }: Bug,
): Promise<FaultPartner> {
  const victim = await cluster.addWorker({ INLET_FAILPOINT: stopAt + point });
  const partner = await cluster.newPartner();
  const [a] = partner.attributes;
  if (first === 'import')
    await partner.importFiles('merge', [[{ device: device(1), isDelete: false, attributes: [a] }]]);
  const other = await partner.createAudience([members(0, 3)]);
  const isStopped =
    ({ child }: typeof victim) =>
    (): Promise<boolean> =>
      Promise.resolve(readFileSync(`/proc/${child.pid}/stat`, 'utf8').includes(') T '));
  const stopped = isStopped(victim);
  const submit = async (): Promise<void> => {
    await partner.createAudience([members(0, 4)]);
    if (meanwhile === 'clear') {
      await waitUntil('a worker is suspended', stopped, timeoutSeconds);
      await partner.clear(other);
      await partner.append(other, [members(20, 22)]);
    }
    await submitOneOfEach(partner);
  };
  const submitting = submit();
  submitting.catch(() => undefined); // The audit below reports the failure.
  await waitUntil('a worker is suspended', stopped, timeoutSeconds);
  const next = await cluster.addWorker(stopNextAt === undefined ? {} : { INLET_FAILPOINT: stopAt + stopNextAt });
  if (stopNextAt !== undefined) {
    await waitUntil('the next worker is suspended', isStopped(next), timeoutSeconds);
    victim.child.kill('SIGCONT');
    await pause(resumeMs);
    next.child.kill('SIGCONT');
  }
  await withTimeout(submitting);
  victim.child.kill('SIGCONT');
  return partner;
}

/** A resumed worker needs a moment before the bug has an effect. Until then, the audit is clean. */
async function isReported(cluster: TestCluster, partners: readonly FaultPartner[], { reports }: Bug): Promise<boolean> {
  return (await cluster.auditAtEnd(partners, 1)).some((finding) => reports.test(finding));
}

async function findingsWith(bug: Bug | null): Promise<string[]> {
  const tree = bug && copyTree();
  if (tree) {
    const { path, text } = withBug(bug);
    tree.write(path, text);
  }
  const stops = bug?.stopAt !== undefined;
  const cluster = await startTestCluster('planted', {
    topology: 'two',
    workers: stops ? 0 : 1,
    settings,
    ...(tree && { tree: tree.folder }),
  });
  try {
    const partners = stops
      ? [await withSuspendedWorker(cluster, bug)]
      : [await cluster.newPartner(), await cluster.newPartner()];
    if (!stops) await Promise.all(partners.map((partner) => withTimeout(submitOneOfEach(partner))));
    await withDatabase(cluster.stores, (client) =>
      client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`),
    );
    // With a bug, the audit never becomes clean, so the test waits for the expected report instead.
    if (bug)
      await waitUntil('the auditor reports the bug', () => isReported(cluster, partners, bug), timeoutSeconds).catch(
        () => undefined,
      );
    return await cluster.auditAtEnd(partners, bug ? 1 : timeoutSeconds);
  } finally {
    for (const { child } of cluster.workers) child.kill('SIGKILL');
    await cluster.stop();
    tree?.drop();
  }
}

const inLongRun = inject('campaign') === 'long';
const planted = inLongRun ? bugs : bugs.filter(({ inGate }) => inGate);

describe('the auditor', () => {
  // In the gate, the chaos campaign covers this.
  it.runIf(inLongRun)('reports nothing without a bug', async () => {
    expect(await findingsWith(null)).toEqual([]);
  });

  it.each(planted)('reports the bug: $name', async (bug) => {
    const findings = await findingsWith(bug);
    process.stdout.write(`planted: ${bug.name}: ${findings.length} findings, first: ${findings[0] ?? '-'}\n`);
    expect(findings.filter((finding) => bug.reports.test(finding))).not.toEqual([]);
  });
});
