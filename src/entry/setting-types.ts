import { z } from 'zod';
import { parseNetwork } from '../domain/network-address.ts';
import { Secret } from '../domain/secret.ts';

// Setting types that several files share.

export const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value));

/** A URL with a password. Errors describe the problem and never contain the URL. */
export const address = (protocols: readonly string[]) =>
  z
    .string()
    .refine((url) => URL.canParse(url) && protocols.includes(new URL(url).protocol), {
      error: `must be a URL that starts with ${protocols.join('// or ')}//; escape special characters in the password`,
      // Checks of several settings must not see a value that is not a secret.
      abort: true,
    })
    .transform((url) => new Secret(url));

const network = z.string().refine((text) => parseNetwork(text) !== null, {
  error: 'must be a network such as 10.1.2.0/24 or fd00::/8',
});

export const networks = z
  .string()
  .transform((list) => list.split(',').map((text) => text.trim()))
  .pipe(z.array(network));

export const count = (fallback: number): z.ZodDefault<z.ZodCoercedNumber> =>
  z.coerce.number().int().positive().default(fallback);

/** A duration of at most a week. */
export const seconds = (fallback: number): z.ZodDefault<z.ZodCoercedNumber> =>
  z.coerce.number().int().min(1).max(604_800).default(fallback);
