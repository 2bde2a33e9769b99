import { Failure } from '../../domain/failure.ts';
import type { ErasureEngine, IdFile, IdList, OperatorErasures } from '../../ports/erasure.ts';

type Deps = { readonly erasures: OperatorErasures; readonly erasureEngine: Pick<ErasureEngine, 'addFile'> };

/** Writes an operator's list to the engine. If the command dies, nothing is erased. */
export async function receiveErasure(
  { erasures, erasureEngine }: Deps,
  requestedBy: string,
  list: IdFile,
): Promise<IdList & { readonly id: number }> {
  const { id, listId } = await erasures.begin(requestedBy);
  try {
    const received = await erasureEngine.addFile(listId, null, list, new AbortController().signal);
    await erasures.complete(id, received);
    return { id, ...received };
  } catch (error) {
    await erasures.abandon(id, error instanceof Failure ? error.detail : 'The list was not received completely.');
    throw error;
  }
}
