import { z } from 'zod';
import type { Operation } from './operations.ts';

export const liveSchema = z.object({ status: z.literal('ok') }).meta({ id: 'Live' });

const state = z.enum(['ok', 'unavailable']);

export const readySchema = z
  .object({
    status: state,
    dependencies: z.record(z.string(), state).meta({ description: 'Each server that Inlet needs, by its name.' }),
  })
  .meta({ id: 'Ready' });

/** What whoever runs Inlet asks for: no key is needed. */
export const healthOperations = {
  getLive: { name: 'Is it running', method: 'GET', path: '/health/live', answer: liveSchema, status: 200 },
  getReady: { name: 'Is it ready', method: 'GET', path: '/health/ready', answer: readySchema, status: 200 },
} as const satisfies Record<string, Operation>;
