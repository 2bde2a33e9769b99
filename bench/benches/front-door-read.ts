import type { Bench } from '../bench.ts';
import { apiOperationBench } from '../api-operation.ts';

export const bench: Bench = apiOperationBench('GET', {
  title: 'Read one import log over 200 connections, compared with a minimal program that runs the same query',
  compares:
    "Inlet: `GET /v1/marketplace/import/<id>` to one API process, including authentication. Yardstick: a Fastify server that uses pg to run only the query for the record. The ratio is Inlet's throughput ÷ the yardstick's.",
});
