import { z } from 'zod';

export const liveSchema = z.object({ status: z.literal('ok') });

export const readySchema = z.object({
  status: z.enum(['ok', 'unavailable']),
  dependencies: z.record(z.string(), z.enum(['ok', 'unavailable'])),
});
