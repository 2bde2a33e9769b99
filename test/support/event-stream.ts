/** One event with its time of arrival. */
type StreamEvent = {
  readonly event: string;
  readonly id: string;
  readonly data: string;
  readonly at: number;
};

export type ReadStream = {
  readonly events: StreamEvent[];
  /** The number of comments received. */
  readonly comments: () => number;
  /** Resolves when the stream ends. */
  readonly ended: Promise<void>;
};

/** Reads server-sent events as they arrive. */
export function readEvents(answer: Response): ReadStream {
  const { body } = answer;
  if (!body) throw new Error('the response has no stream');
  const events: StreamEvent[] = [];
  let comments = 0;
  const take = (block: string): void => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) comments += 1;
      else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2));
    }
    const data = fields.get('data');
    if (data === undefined) return;
    events.push({ event: fields.get('event') ?? '', id: fields.get('id') ?? '', data, at: Date.now() });
  };
  const read = async (): Promise<void> => {
    let text = '';
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + part).split('\n\n');
      text = blocks.pop() ?? '';
      blocks.forEach(take);
    }
    if (text !== '') throw new Error(`the stream ended in the middle of an event: ${text}`);
  };
  const ended = read();
  // Prevents an unhandled rejection if the caller does not await the result.
  ended.catch(() => undefined);
  return { events, comments: () => comments, ended };
}
