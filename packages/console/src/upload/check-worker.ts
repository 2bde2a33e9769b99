import { type CheckRules, checkFile } from './check-file.ts';

// Checks one file outside the page's thread. The page ends the worker to cancel the check.

export type CheckRequest = { readonly file: File; readonly rules: CheckRules };

addEventListener('message', ({ data }: MessageEvent<CheckRequest>) => {
  const run = async (): Promise<void> => {
    const checked = await checkFile(data.file, data.rules, (bytes) => postMessage({ bytes })).catch(() => null);
    postMessage({ checked });
  };
  void run();
});
