export type RawEvent = { readonly id: string; readonly event: string; readonly data: string };

/** Server-sent events as the HTML standard describes them. `onBytes` is told of comments too: they show that it lives. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<RawEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r\n\r\n|\n\n|\r\r/);
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = readBlock(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function readBlock(block: string): RawEvent | null {
  const fields = block.split(/\r\n|\n|\r/).flatMap((line) => {
    const [, name = '', value = ''] = /^([a-z]+):? ?(.*)$/s.exec(line) ?? [];
    return name === '' ? [] : [{ name, value }];
  });
  const last = (name: string): string => fields.findLast((field) => field.name === name)?.value ?? '';
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value);
  if (data.length === 0) return null;
  return { id: last('id'), event: last('event') || 'message', data: data.join('\n') };
}
