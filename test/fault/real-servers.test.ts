import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import type { FaultPartner } from './fault-partner.ts';
import { firstMember } from './known-devices.ts';
import { type ServerName, signalServer, startServers } from './real-servers.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

// The servers themselves, not the way to them. They belong to this test alone while it runs.

/** Long enough to be asked while they are gone. */
const goneMs = 3_000;
/** Longer than it takes until a server that stands still is believed to be away. */
const stillMs = 15_000;

describe('a server', () => {
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

  const askForSome = async (): Promise<void> => {
    const [a] = partner.attributes;
    const first = 10 * partner.asked.length;
    const rows = Array.from({ length: 10 }, (_, n) => ({
      device: device(first + n),
      isDelete: false,
      attributes: [a],
    }));
    const member = [device(firstMember + partner.asked.length), ''] as const;
    for (let n = 0; n < 3; n++) await partner.importFiles('merge', [rows, rows]);
    await partner.createAudience([{ rows: [member], flaw: null }]);
  };

  const killed: [what: string, names: ServerName[]][] = [
    ['PostgreSQL', ['PostgreSQL']],
    ['a shard', ['shard 2']],
    ['every shard', ['shard 1', 'shard 2']],
    ['the S3 gateway', ['S3 gateway']],
  ];
  it.each(killed)('that is killed with work under way loses nothing: %s', async (_what, names) => {
    await askForSome();
    for (const name of names) expect(signalServer(name, 'SIGKILL')).toBe(true);
    await pause(goneMs);
    await startServers();
    await askForSome();
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each<ServerName>(['shard 1', 'S3 gateway'])(
    'that stands still makes jobs wait, and none fail: %s',
    async (name) => {
      await askForSome();
      expect(signalServer(name, 'SIGSTOP')).toBe(true);
      await pause(stillMs);
      signalServer(name, 'SIGCONT');
      expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
    },
  );
});
