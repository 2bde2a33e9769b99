import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';

// `npm run dev` writes this file and `npm run demo` reads it. It is never committed, and only its owner can read it.
const file = '.dev/demo.json';

const demoSessionSchema = z.object({
  url: z.string(),
  partner: z.string(),
  apiKey: z.string(),
  bucket: z.string(),
  prefix: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
});

export type DemoSession = z.infer<typeof demoSessionSchema>;

export async function readDemoSession(): Promise<DemoSession | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  return text === null ? null : (demoSessionSchema.safeParse(JSON.parse(text)).data ?? null);
}

/** Throws if `npm run dev` is not running, even if a session file exists. */
export async function requireDemoSession(): Promise<DemoSession> {
  const session = await readDemoSession();
  const headers = { authorization: `Bearer ${session?.apiKey}` };
  const response = session && (await fetch(`${session.url}/v1/limits`, { headers }).catch(() => null));
  if (!session || !response?.ok) throw new Error('Run "npm run dev" in another terminal and wait until it is ready.');
  return session;
}

export async function writeDemoSession(session: DemoSession): Promise<void> {
  await mkdir('.dev', { recursive: true });
  await writeFile(file, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 });
}
