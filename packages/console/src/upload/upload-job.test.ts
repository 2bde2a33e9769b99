import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CheckRules } from './check-file.ts';
import { findingsOf } from './describe-upload.ts';
import { UploadMemory } from './resume.ts';
import { UploadJob } from './upload-job.ts';

const checked = { rows: { good: 3, bad: 0 }, fault: null };
const rules: CheckRules = {
  isAudience: false,
  limits: { maxLineBytes: 100, maxGzipFileBytes: 100, maxPlainFileBytes: 100 },
  badRowShare: 1,
  unhyphenatedIds: false,
  keyType: 0,
  keys: null,
};
const file = new File(['a\nb\nc\n'], 'a.csv');

/** A worker whose checks end when the test says so. */
class HeldWorker extends EventTarget {
  static readonly started: HeldWorker[] = [];
  isTerminated = false;

  postMessage(): void {
    HeldWorker.started.push(this);
  }
  terminate(): void {
    this.isTerminated = true;
  }
  end(): void {
    if (!this.isTerminated) this.dispatchEvent(new MessageEvent('message', { data: { checked } }));
  }
}

const endChecks = (): void => HeldWorker.started.splice(0).forEach((worker) => worker.end());

describe('the check of chosen files', () => {
  beforeEach(() => {
    vi.stubGlobal('Worker', HeldWorker);
    vi.stubGlobal('isSecureContext', false);
    vi.stubGlobal('localStorage', {});
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    HeldWorker.started.length = 0;
  });

  async function start(): Promise<UploadJob> {
    const job = new UploadJob(new UploadMemory('1//import'));
    await job.add([file]);
    return job;
  }
  const stateOf = (job: UploadJob) => {
    const entries = [...job.entries.values()];
    return { step: entries[0]?.step, isChecking: job.isChecking, ...findingsOf(entries, []) };
  };

  it.each([true, false])('starts again when another check replaces it (again: %s)', async (isAgain) => {
    const job = await start();
    const first = job.check(rules, true);
    const second = job.check(rules, isAgain);
    await first;
    endChecks();
    await second;
    expect(stateOf(job)).toMatchObject({ step: 'ready', isChecking: false, failing: 0, validRows: 3, unchecked: 0 });
  });

  it('does not make a file fail when the user skips the check', async () => {
    const job = await start();
    const check = job.check(rules, false);
    job.skipCheck();
    await check;
    expect(stateOf(job)).toMatchObject({ step: 'ready', isChecking: false, failing: 0, unchecked: 1 });
  });

  it('completes for a file that moves to a new folder in the meantime', async () => {
    const job = await start();
    const check = job.check(rules, false);
    job.startOver();
    endChecks();
    await check;
    expect(stateOf(job)).toMatchObject({ step: 'ready', failing: 0, validRows: 3 });
  });
});
