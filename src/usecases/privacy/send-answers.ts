import { type DropWait, dropWaitSeconds, isAcceptedEarlier, secondsUntilOpen } from '../../domain/drop.ts';
import { Failure } from '../../domain/failure.ts';
import type { DropApi, DropCycles, DropDelay, DropStorage, DropUpload, UploadResult } from '../../ports/drop.ts';

type SendDeps = {
  readonly api: DropApi;
  readonly storage: DropStorage;
  readonly cycles: DropCycles;
  readonly now: () => Date;
  /** Whether the server is closed at night, as DROP is. */
  readonly keepsHours: boolean;
};

/** The cycle cannot continue yet. */
export class Waits extends Error {
  readonly reason: DropWait;
  readonly seconds: number;
  readonly detail: string | null;

  constructor(reason: DropWait, seconds: number = dropWaitSeconds[reason], detail: string | null = null) {
    super(`waiting for ${reason}`);
    this.reason = reason;
    this.seconds = seconds;
    this.detail = detail;
  }
}

export function delayed({ reason, retryAfterSeconds, message }: DropDelay): Waits {
  return new Waits(reason, retryAfterSeconds ?? dropWaitSeconds[reason], message);
}

export function requireOpen({ now, keepsHours }: Pick<SendDeps, 'now' | 'keepsHours'>): void {
  const seconds = keepsHours ? secondsUntilOpen(now()) : 0;
  if (seconds > 0) throw new Waits('opening', seconds);
}

/** Whether the file must be sent. */
export function isPending({ acceptedAt, isRefused }: DropUpload): boolean {
  return acceptedAt === null && !isRefused;
}

export function rejection(name: string, message: string): Failure {
  return new Failure('invalid_request', `DROP rejected ${name}: ${message}`);
}

/**
 * Sends a file, and records that it was accepted. Returns the reason if DROP has refused the file, and otherwise null.
 */
export async function send(
  deps: SendDeps,
  cycleId: number,
  upload: DropUpload,
  signal: AbortSignal,
): Promise<string | null> {
  const { api, storage, cycles } = deps;
  const { name } = upload;
  requireOpen(deps);
  const file = { name, content: await storage.readFile(upload.key) };
  await cycles.noteSent(cycleId, name);
  // Otherwise, a later attempt would treat this one as accepted. An earlier attempt may still have been accepted.
  const noteUnsent = async (): Promise<void> => {
    if (upload.sentAt === null) await cycles.noteUnsent(cycleId, name);
  };
  let result: UploadResult;
  try {
    result = await (upload.isAmendment ? api.amend(file, signal) : api.upload(file, signal));
  } catch (error) {
    if (error instanceof Failure) await noteUnsent();
    throw error;
  }
  if (result.is === 'delayed') {
    if (!result.isUncertain) await noteUnsent();
    throw delayed(result);
  }
  if (isAccepted(result, upload)) {
    await cycles.noteAccepted(cycleId, name, result.message);
    return null;
  }
  if (result.is === 'rejected' || (upload.isAmendment && upload.sentAt === null)) return result.message;
  await noteUnsent();
  throw rejection(name, result.message);
}

/**
 * The response to an earlier attempt may have been lost. If DROP has processed the batch since then, it responds with
 * 409. For an amendment, 409 only means that DROP cannot process it now.
 */
function isAccepted(
  result: Exclude<UploadResult, DropDelay>,
  { sentAt, isAmendment }: Pick<DropUpload, 'sentAt' | 'isAmendment'>,
): boolean {
  if (result.is === 'accepted') return true;
  if (sentAt === null) return false;
  return result.is === 'no_batch' ? !isAmendment : isAcceptedEarlier(result.message);
}
