import type { Bench } from '../bench.ts';
import { frontDoorBench } from '../front-door.ts';

export const bench: Bench = frontDoorBench('GET', {
  title: 'Reading one import log over 200 connections, against a bare program with the same query',
  compares:
    'Inlet: `GET /v1/marketplace/import/<id>` to one api, which looks the key up as well. Yardstick: Fastify and pg with the query of the record, and nothing else. The ratio is the throughput of Inlet ÷ that of the yardstick.',
});
