import type { RecordSource } from './record-source.ts';
import { wakeAll, wantsChanges, type Topic } from './follow-topic.ts';

/** Records that are read at a time: each of them needs a connection for a moment. */
const readsAtATime = 4;

/**
 * One look at these records: their marks in one statement, then those that are others than before and that somebody wants.
 * Who follows is told of each as soon as it is read. Gives those that could not be looked at.
 */
export async function lookAt<Of, State>(
  source: RecordSource<Of, State>,
  topics: readonly Topic<Of, State>[],
  look: number,
): Promise<Topic<Of, State>[]> {
  const failed: Topic<Of, State>[] = [];
  if (topics.length === 0) return failed;
  const asked = new Set(topics.filter(({ isAsked }) => isAsked));
  for (const topic of asked) topic.isAsked = false;
  const fail = (topic: Topic<Of, State>, error: unknown): void => {
    failed.push(topic);
    topic.failed = { look, error };
    wakeAll(topic);
  };
  try {
    const ids = [...new Set(topics.map(({ of }) => source.idOf(of)))];
    const marks = new Map((await source.marksOf(ids)).map((mark) => [mark.id, mark]));
    const reads = topics.values().map(async (topic) => {
      const mark = marks.get(source.idOf(topic.of));
      const isWanted = asked.has(topic) || wantsChanges(topic) || mark?.isFinal === true;
      if (topic.look > 0 && mark?.mark === topic.mark) tell(topic, topic.last, look);
      else if (isWanted) {
        try {
          // Also where there is none: else the time of an answer would tell a record of another from none at all.
          const state = await source.read(topic.of);
          topic.mark = mark?.mark ?? null;
          tell(topic, state, look);
        } catch (error) {
          fail(topic, error);
        }
      }
    });
    // An iterator that is shared: each of them takes the next.
    await Promise.all(
      Array.from({ length: readsAtATime }, async () => {
        for (const read of reads) await read;
      }),
    );
  } catch (error) {
    for (const topic of topics) fail(topic, error);
  }
  return failed;
}

function tell<Of, State>(topic: Topic<Of, State>, state: State | null, look: number): void {
  topic.last = state;
  topic.look = look;
  wakeAll(topic);
}
