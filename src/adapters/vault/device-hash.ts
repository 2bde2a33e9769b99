import { createHash } from 'node:crypto';

/** The hash of a device's 32 hexadecimal digits in lower case, as California's DROP computes it, in Base64. */
export function hashOfDevice(digits: string): string {
  return createHash('sha256').update(digits, 'utf8').digest('base64');
}
