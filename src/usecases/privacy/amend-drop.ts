import { amendmentName, deviceList, readAmendment, textOfAmendment } from '../../domain/drop.ts';
import { Failure } from '../../domain/failure.ts';
import type { DropUpload } from '../../ports/drop.ts';
import type { DropDeps } from './run-drop-cycle.ts';
import { Waits, isPending, rejection, send } from './send-answers.ts';

type Deps = Pick<DropDeps, 'api' | 'storage' | 'cycles' | 'items' | 'digest' | 'now' | 'keepsHours'>;

/** Corrects answers in a cycle whose answers have been accepted. Returns the name of the accepted file. */
export async function amendAnswers(deps: Deps, cycleId: number, text: string, signal: AbortSignal): Promise<string> {
  const { cycles, items, storage } = deps;
  const amended = readAmendment(text);
  const cycle = await cycles.find(cycleId);
  const list = cycle?.lists.find((one) => one.list === deviceList);
  if (!cycle || !list || cycle.step !== 'done')
    throw new Failure('not_found', `Cycle ${cycleId} has no accepted answers to device IDs.`);
  const ids = [...amended.keys()];
  const known = await items.countKnown(cycleId, ids);
  if (known < ids.length)
    throw new Failure('invalid_request', `${ids.length - known} of the IDs do not belong to cycle ${cycleId}.`);
  await sendPending(deps, cycleId, signal);
  const number = (await cycles.listUploads(cycleId)).filter(({ isAmendment }) => isAmendment).length + 1;
  const name = amendmentName(list.name, number);
  const content = Buffer.from(textOfAmendment(amended));
  const sha256 = deps.digest(content);
  // A command that dies here leaves an object behind. The next amendment must not collide with it.
  const upload = { name, key: `drop/${cycleId}/amendments/${sha256}/${name}`, sha256 };
  await storage.keepFile(upload.key, content, upload.sha256);
  await cycles.addAmendment(cycleId, { ...upload, isAmendment: true, items: amended.size, bytes: content.length });
  await sendPending(deps, cycleId, signal);
  return name;
}

/** Sends the amendments that are not recorded as accepted, for example because a command was interrupted. */
async function sendPending(deps: Deps, cycleId: number, signal: AbortSignal): Promise<void> {
  try {
    for (const upload of await deps.cycles.listUploads(cycleId))
      if (upload.isAmendment && isPending(upload)) await sendAmendment(deps, cycleId, upload, signal);
  } catch (error) {
    if (!(error instanceof Waits)) throw error;
    throw new Failure('unavailable', `DROP does not accept files now. Try again in ${error.seconds} seconds.`);
  }
}

/** A rejected amendment must not block the next one. */
async function sendAmendment(deps: Deps, cycleId: number, upload: DropUpload, signal: AbortSignal): Promise<void> {
  const refusal = await send(deps, cycleId, upload, signal);
  if (refusal === null) return;
  await deps.cycles.noteRefused(cycleId, upload.name, refusal);
  throw rejection(upload.name, refusal);
}
