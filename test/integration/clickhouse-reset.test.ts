import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readAddresses } from '../../stack/addresses.ts';

it('keeps a development ClickHouse server running when a client resets its native connection', async () => {
  const { httpPort, tcpPort } = readAddresses().clickhouse.shards[0] ?? { httpPort: 0, tcpPort: 0 };
  const socket = connect(tcpPort, '127.0.0.1');
  await once(socket, 'connect');
  // The server is now reading a packet, so the reset reaches its connection handler as an exception.
  socket.write(Buffer.from([0]));
  await sleep(300);
  socket.resetAndDestroy();
  await sleep(1000);
  const ping = await fetch(`http://127.0.0.1:${httpPort}/ping`, { headers: { connection: 'close' } });
  expect(await ping.text()).toBe('Ok.\n');
});
