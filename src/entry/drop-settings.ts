import { z } from 'zod';
import { secret } from './setting-types.ts';

const bucketName = z.string().min(3).optional();

export const dropSettings = {
  INLET_DROP_API_KEY: secret
    .optional()
    .describe(
      "API key of the data broker in California's DROP, for `inlet privacy drop`. Only the command needs it. See operators/drop.md.",
    ),
  INLET_DROP_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://api.drop.privacy.ca.gov')
    .describe('URL of the DROP API. The sandbox is `https://api.drop.privacy.ca.gov/sandbox`.'),
  INLET_DROP_BUCKET: bucketName.describe(
    'Bucket in which `inlet privacy drop` keeps downloaded archives and answers. Partners must have no access to it, so it is not `INLET_S3_BUCKET`.',
  ),
  INLET_DROP_DIRECTORY: z
    .string()
    .default('/var/tmp/inlet-drop')
    .describe(
      'Local folder in which `inlet privacy drop` receives archives, with space for two of them. Use a folder that survives a restart, because DROP delivers an archive once.',
    ),
  INLET_DROP_POLICY: z
    .string()
    .optional()
    .describe(
      'Path of the policy file for `inlet privacy drop`. If it is not set, the defaults in operators/drop.md apply.',
    ),
};

type DropConfig = z.infer<z.ZodObject<typeof dropSettings>> & { readonly INLET_S3_BUCKET: string };

/** A local server stands in for DROP in tests. */
const localHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

export function isLocal(url: string): boolean {
  return localHosts.has(new URL(url).hostname);
}

export function findDropMistakes(config: DropConfig): { name: string; message: string }[] {
  const { protocol } = new URL(config.INLET_DROP_URL);
  const mistakes: { name: string; message: string }[] = [];
  if (protocol !== 'https:' && !isLocal(config.INLET_DROP_URL))
    mistakes.push({ name: 'INLET_DROP_URL', message: 'must start with https://, because the API key is sent to it' });
  if (config.INLET_DROP_BUCKET === config.INLET_S3_BUCKET)
    mistakes.push({ name: 'INLET_DROP_BUCKET', message: 'must not be INLET_S3_BUCKET, which partners can read' });
  return mistakes;
}
