import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { device } from '../support/device-id.ts';
import type { FaultPartner } from './fault-partner.ts';
import { firstMember } from './known-devices.ts';
import { type ServerName, signalServer, startServers } from './real-servers.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

// Kills and suspends the servers themselves, not the connections to them. No other test uses the servers at the same
// time.

/** Long enough for a request to fail. */
const goneMs = 3_000;
/** Longer than it takes to detect a suspended server. */
const suspendedMs = 15_000;

describe('a real server', () => {
  let cluster: TestCluster;
  let partner: FaultPartner;
  beforeAll(async () => {
    cluster = await startTestCluster('real-servers', { topology: 'two', workers: 2 });
    partner = await cluster.newPartner();
  });
  afterAll(async () => {
    await startServers();
    await cluster.stop();
  });

  const submitSome = async (): Promise<void> => {
    const [a] = partner.attributes;
    const first = 10 * partner.submitted.length;
    const rows = Array.from({ length: 10 }, (_, n) => ({
      device: device(first + n),
      isDelete: false,
      attributes: [a],
    }));
    const member = [device(firstMember + partner.submitted.length), ''] as const;
    for (let n = 0; n < 3; n++) await partner.importFiles('merge', [rows, rows]);
    await partner.createAudience([{ rows: [member], flaw: null }]);
  };

  const inLongRun = inject('campaign') === 'long';
  type Killed = [what: string, names: ServerName[]];
  const onlyInLongRun: Killed[] = [
    ['a shard', ['shard 2']],
    ['the S3 gateway', ['S3 gateway']],
  ];
  const killed: Killed[] = [
    ['PostgreSQL', ['PostgreSQL']],
    ['every shard', ['shard 1', 'shard 2']],
    ...(inLongRun ? onlyInLongRun : []),
  ];
  const suspended: readonly ServerName[] = inLongRun ? ['shard 1', 'S3 gateway'] : ['shard 1'];
  it.each(killed)('a server that is killed during work loses nothing: %s', async (_what, names) => {
    await submitSome();
    for (const name of names) expect(signalServer(name, 'SIGKILL')).toBe(true);
    await pause(goneMs);
    await startServers();
    await submitSome();
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each(suspended)('a suspended server delays jobs without failing them: %s', async (name) => {
    await submitSome();
    expect(signalServer(name, 'SIGSTOP')).toBe(true);
    await pause(suspendedMs);
    signalServer(name, 'SIGCONT');
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });
});
