import type { Bench } from '../bench.ts';
import { apiOperationBench } from '../api-operation.ts';

export const bench: Bench = apiOperationBench('POST', {
  title: 'Queue imports over 200 connections, compared with a minimal program that runs the same transaction',
  compares:
    "Inlet: `POST /v1/marketplace/import` to one api process, with authentication, limits and validation; no worker. Yardstick: Fastify and pg with only the statements of that transaction. The ratio is Inlet's throughput ÷ the yardstick's.",
});
