import { mkdir, writeFile } from 'node:fs/promises';
import type { DemoSession } from './demo-session.ts';

// Files that connect `npm run dev` to the command line. They are never committed, and only their owner can read them.

export const issuedFile = '.dev/issued.json';
export const environmentFile = '.dev/inlet.env';

/**
 * Writes the credentials of the demo partner in the output format of `inlet partner create`, for `inlet login --from`.
 */
export async function writeIssued(
  session: DemoSession,
  storage: { readonly endpoint: string | null; readonly region: string },
): Promise<void> {
  await writePrivately(
    issuedFile,
    `${JSON.stringify(
      {
        url: session.url,
        name: session.partner,
        api_key: session.apiKey,
        storage: {
          ...storage,
          bucket: session.bucket,
          prefix: session.prefix,
          access_key_id: session.accessKeyId,
          secret_access_key: session.secretAccessKey,
        },
      },
      null,
      2,
    )}\n`,
  );
}

/** Writes the settings of the service for operator commands in another shell. */
export async function writeEnvironment(environment: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  await writePrivately(environmentFile, lines.join(''));
}

async function writePrivately(file: string, text: string): Promise<void> {
  await mkdir('.dev', { recursive: true });
  await writeFile(file, text, { mode: 0o600 });
}
