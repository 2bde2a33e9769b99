import { expect, it } from 'vitest';
import { abortExpiredUploads } from './sweep-uploads.ts';

it('aborts the other expired uploads if the storage refuses to abort some, and reports the failure', async () => {
  let open = Array.from({ length: 250 }, (_, index) => ({ id: index + 1, key: `acme/${index + 1}`, storageId: 'x' }));
  const deps = {
    uploadSweep: {
      listExpired: async (_hours: number, { afterId, limit }: { afterId: number; limit: number }) =>
        open.filter(({ id }) => id > afterId).slice(0, limit),
      markEnded: async (ids: readonly number[]) => {
        open = open.filter(({ id }) => !ids.includes(id));
      },
      removeEnded: async () => 0,
    },
    uploads: {
      abort: async ({ key }: { readonly key: string }) => {
        if (Number(key.slice('acme/'.length)) <= 120) throw new Error('AccessDenied');
      },
    },
  };
  const sweep = abortExpiredUploads(deps, new AbortController().signal);
  await expect(sweep).rejects.toThrow('120 of 250 expired uploads were not aborted');
  expect(open.map(({ id }) => id)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
});
