import { readFileSync } from 'node:fs';

/**
 * Settings that contain a secret. Each can be read from a file whose path is in `<name>_FILE`, because container platforms
 * mount secrets as files. A test compares this list with the configuration schema.
 */
export const secretSettings = [
  'INLET_POSTGRES_URL',
  'INLET_OPERATOR_POSTGRES_URL',
  'INLET_CLICKHOUSE_URLS',
  'INLET_S3_SECRET_ACCESS_KEY',
  'INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY',
  'INLET_ROLE_SECRET_ACCESS_KEY',
  'INLET_SEALING_KEYS',
  'INLET_OTLP_URL',
  'INLET_REPORT_KEY',
  'INLET_PROOF_KEY',
  'INLET_DROP_API_KEY',
  'INLET_CONSOLE_OIDC_CLIENT_SECRET',
] as const;

type Environment = Readonly<Record<string, string | undefined>>;
type FileProblem = { readonly setting: string; readonly variable: string; readonly message: string };

/** A secret is at most a list of addresses. A larger file is a mistake. */
const maxBytes = 64 * 1024;

/** Reads the files of `<name>_FILE`. A problem names the variable and the file, and never contains the content. */
export function readSecretFiles(given: Environment): { settings: Environment; problems: readonly FileProblem[] } {
  const settings: Record<string, string | undefined> = { ...given };
  const problems: FileProblem[] = [];
  for (const setting of secretSettings) {
    const variable = `${setting}_FILE`;
    const path = given[variable];
    if (path === undefined) continue;
    if (given[setting] !== undefined) {
      problems.push({ setting, variable, message: `${setting} is also set. Set only one of them.` });
      continue;
    }
    const result = readSecret(path);
    if ('content' in result) settings[setting] = result.content;
    else problems.push({ setting, variable, message: result.message });
  }
  return { settings, problems };
}

/** Removes one trailing newline, which editors and `echo` add. */
function readSecret(path: string): { readonly content: string } | { readonly message: string } {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    return { message: `cannot read the file ${path} (${reason})` };
  }
  if (content.length > maxBytes) return { message: `the file ${path} is larger than ${maxBytes} bytes` };
  const secret = content.replace(/\r?\n$/, '');
  return secret === '' ? { message: `the file ${path} is empty` } : { content: secret };
}
