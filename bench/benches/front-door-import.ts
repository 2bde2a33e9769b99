import type { Bench } from '../bench.ts';
import { frontDoorBench } from '../front-door.ts';

export const bench: Bench = frontDoorBench('POST', {
  title: 'Queueing imports over 200 connections, against a bare program with the same transaction',
  compares:
    'Inlet: `POST /v1/marketplace/import` to one api, with key, limit and schema; no worker. Yardstick: Fastify and pg with the statements of that transaction, and nothing else. The ratio is the throughput of Inlet ÷ that of the yardstick.',
});
