import { once } from 'node:events';

/** Waits when whoever reads is slow, so that a long list does not stand in memory. */
export async function writeText(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}
