import type { Bench } from '../bench.ts';
import { apiOperationBench } from '../api-operation.ts';

export const bench: Bench = apiOperationBench('POST', {
  title: 'Queue imports over 200 connections, compared with a minimal program that runs the same transaction',
  compares:
    "Inlet: `POST /v1/marketplace/import` to one API process, with authentication, limits, and validation, and without a worker. Yardstick: a Fastify server that uses pg to run only the statements of that transaction. The ratio is Inlet's throughput ÷ the yardstick's.",
});
