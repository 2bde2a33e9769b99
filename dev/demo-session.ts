import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';

// What `npm run dev` made and `npm run demo` needs. Never committed, readable for its owner only.
const file = '.dev/demo.json';

const demoSessionSchema = z.object({
  url: z.string(),
  apiKey: z.string(),
  bucket: z.string(),
  prefix: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
});

export type DemoSession = z.infer<typeof demoSessionSchema>;

export async function readDemoSession(): Promise<DemoSession | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : demoSessionSchema.parse(JSON.parse(text));
}

/** Fails where nothing runs, be it that something of an earlier time is written down. */
export async function requireDemoSession(): Promise<DemoSession> {
  const session = await readDemoSession();
  const headers = { authorization: `Bearer ${session?.apiKey}` };
  const answer = session && (await fetch(`${session.url}/v1/limits`, { headers }).catch(() => null));
  if (!session || !answer?.ok)
    throw new Error('Start "npm run dev" in another terminal first, and wait until it is ready.');
  return session;
}

export async function writeDemoSession(session: DemoSession): Promise<void> {
  await mkdir('.dev', { recursive: true });
  await writeFile(file, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 });
}
