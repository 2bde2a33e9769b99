import { type RemoteInfo, createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { dnsResolve } from './dns-resolve.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const typeA = 1;

/** Starts a name server that answers A queries with these addresses, or does not answer at all. */
async function startNameServer(answers: readonly string[] | null): Promise<{ address: string; queries: Buffer[] }> {
  const socket = createSocket('udp4');
  const queries: Buffer[] = [];
  socket.on('message', (query: Buffer, { port, address }: RemoteInfo) => {
    queries.push(query);
    if (answers !== null) socket.send(answer(query, answers), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  closing.push(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, queries };
}

function answer(query: Buffer, addresses: readonly string[]): Buffer {
  const endOfName = query.indexOf(0, 12);
  const question = query.subarray(12, endOfName + 5);
  const records = query.readUInt16BE(endOfName + 1) === typeA ? addresses : [];
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  const encoded = records.map((address) =>
    Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, question, ...encoded]);
}

const resolveName = (server: string, name: string): Promise<LookupAddress[]> =>
  new Promise((resolve, reject) => {
    dnsResolve([server])(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

describe('resolving a name that a partner has chosen', () => {
  it('returns all addresses of the name', async () => {
    const { address } = await startNameServer(['93.184.216.34', '10.0.0.1']);
    expect(await resolveName(address, 'hooks.example.com')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]);
  });

  it('reports a name without addresses', async () => {
    const { address } = await startNameServer([]);
    await expect(resolveName(address, 'hooks.example.com')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('queries the name server for a short name, without search domains, but never for localhost', async () => {
    const { address, queries } = await startNameServer(['93.184.216.34']);
    expect(await resolveName(address, 'localhost')).toEqual([{ address: '127.0.0.1', family: 4 }]);
    expect(queries).toEqual([]);
    await resolveName(address, 'ip6-localnet');
    expect(queries.every((query) => query.includes('\u{c}ip6-localnet\0'))).toBe(true);
  });

  it('occupies no thread while a name server does not respond', async () => {
    const { address, queries } = await startNameServer(null);
    const ended: string[] = [];
    const slow = Array.from({ length: 16 }, async (_, n) => {
      await expect(resolveName(address, `hooks-${n}.example.com`)).rejects.toMatchObject({ code: 'ETIMEOUT' });
      ended.push('resolved');
    });
    const bytes = await promisify(gunzip)(gzipSync('rows'));
    ended.push('decompressed');
    await Promise.all(slow);
    expect(bytes.toString()).toBe('rows');
    expect(ended[0]).toBe('decompressed');
    // Two queries per name, each sent twice.
    expect(queries).toHaveLength(16 * 4);
  });
});
