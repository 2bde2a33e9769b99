import { z } from 'zod';

// What several records have in common.

export const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });
export const code = z.string().meta({ description: 'A stable code: see docs/errors.md.' });
export const status = z.literal([0, 1, 2, 3]).meta({ description: '0 pending, 1 running, 2 done, 3 error.' });

/** An id in a path; what is no number is nobody's. */
export const pathId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number);

/** Where a page begins. */
export const cursor = z.string().max(128).optional();
