import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readIfExists, writeSecretFile } from './files.ts';
import { cloneDirectory } from './paths.ts';

const clickhouseServerSchema = z.object({ httpUrl: z.url(), httpPort: z.int(), tcpPort: z.int(), pid: z.int() });

export const stackAddressesSchema = z.object({
  directory: z.string(),
  postgres: z.object({ url: z.url() }),
  clickhouse: z.object({
    shards: z.array(clickhouseServerSchema).min(1).max(2),
    /** The second replica of each shard. Empty without replicas. */
    secondReplicas: z.array(clickhouseServerSchema).max(2),
    clusters: z.object({
      one: z.literal('inlet_one'),
      two: z.literal('inlet_two').optional(),
      replicated: z.literal('inlet_replicated').optional(),
    }),
    zookeepers: z.array(z.object({ port: z.int(), pid: z.int() })),
  }),
  /** 256 bits in hexadecimal, for sealing credentials. */
  sealingKey: z.string(),
  s3: z.object({
    endpoint: z.url(),
    region: z.literal('us-east-1'),
    providerAccessKeyId: z.string(),
    providerSecretAccessKey: z.string(),
    adminAccessKeyId: z.string(),
    adminSecretAccessKey: z.string(),
  }),
});

export type StackAddresses = z.infer<typeof stackAddressesSchema>;

const addressesFile = join(cloneDirectory, '.stack.json');

export function readAddresses(): StackAddresses {
  const text = readIfExists(addressesFile);
  if (text === undefined) {
    throw new Error(`The development servers are not running (no ${addressesFile}). Run "npm run stack:up" first.`);
  }
  try {
    return stackAddressesSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`${addressesFile} was written by another version. Run "npm run stack:up" again.`, {
      cause: error,
    });
  }
}

export function writeAddresses(addresses: StackAddresses): void {
  writeSecretFile(addressesFile, `${JSON.stringify(addresses, null, 2)}\n`);
}

export function removeAddresses(): void {
  rmSync(addressesFile, { force: true });
}
