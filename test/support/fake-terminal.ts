import { PassThrough } from 'node:stream';

export type FakeTerminal = { readonly stream: NodeJS.WriteStream; readonly written: () => string };

/** A stream that imitates a terminal or a pipe and records its output. */
export function fakeTerminal(isTTY: boolean, columns = 80, rows = 24): FakeTerminal {
  let text = '';
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const like = isTTY ? { isTTY, columns, rows, getColorDepth: () => 8 } : {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- has every member that the code uses
  return { stream: Object.assign(stream, like) as unknown as NodeJS.WriteStream, written: () => text };
}
