import { z } from 'zod';

/** What a caller may send with every operation that changes something, to be able to send it again. */
export const idempotencyKeyHeader = 'Idempotency-Key';

export const idempotencyKeySchema = z
  .string()
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'must be 1 to 255 visible ASCII characters, and be sent once');
