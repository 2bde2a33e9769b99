import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Secret } from '../domain/secret.ts';
import { configSchema } from './config.ts';
import { readSecretFiles, secretSettings } from './secret-files.ts';

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileWith = (content: string): string => {
    const path = join(folder, String(content.length));
    writeFileSync(path, content);
    return path;
  };
  const messagesOf = (given: Record<string, string>): string[] =>
    readSecretFiles(given).problems.map(({ variable, message }) => `${variable}: ${message}`);

  it('every secret setting can be read from a file', () => {
    const digits = '0'.repeat(64);
    const texts = ['abc', digits, `a:${digits}`, 'postgres://a@b/c', 'http://a@b'];
    const secrets = Object.entries(configSchema.shape).flatMap(([name, schema]) => {
      const values = texts.flatMap((text): unknown[] => [schema.safeParse(text).data].flat(3));
      return values.some((value) => value instanceof Secret) ? [name] : [];
    });
    expect(secretSettings.toSorted()).toEqual(secrets.toSorted());
  });

  it.each(['hunter2', 'hunter2\n', 'hunter2\r\n'])('removes one trailing newline from %j', (content) => {
    const { settings, problems } = readSecretFiles({ INLET_REPORT_KEY_FILE: fileWith(content) });
    expect([settings['INLET_REPORT_KEY'], problems]).toEqual(['hunter2', []]);
  });

  it('keeps spaces and all other newlines, which may be part of the secret', () => {
    const { settings } = readSecretFiles({ INLET_REPORT_KEY_FILE: fileWith(' hunter2 \n\n') });
    expect(settings['INLET_REPORT_KEY']).toBe(' hunter2 \n');
  });

  it('reports a problem with the variable and the file, but never with the content', () => {
    const file = fileWith('hunter2');
    expect(messagesOf({ INLET_REPORT_KEY: 'hunter3', INLET_REPORT_KEY_FILE: file })).toEqual([
      'INLET_REPORT_KEY_FILE: INLET_REPORT_KEY is also set. Set only one of them.',
    ]);
    const empty = fileWith('\n');
    expect(messagesOf({ INLET_REPORT_KEY_FILE: empty })).toEqual([`INLET_REPORT_KEY_FILE: the file ${empty} is empty`]);
    const large = fileWith('hunter2'.repeat(20_000));
    expect(messagesOf({ INLET_REPORT_KEY_FILE: large })).toEqual([
      `INLET_REPORT_KEY_FILE: the file ${large} is larger than 65536 bytes`,
    ]);
    expect(messagesOf({ INLET_REPORT_KEY_FILE: folder })).toEqual([
      `INLET_REPORT_KEY_FILE: cannot read the file ${folder} (EISDIR)`,
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('reports a file without read permission', () => {
    const file = fileWith('hunter2!');
    chmodSync(file, 0);
    expect(messagesOf({ INLET_REPORT_KEY_FILE: file })).toEqual([
      `INLET_REPORT_KEY_FILE: cannot read the file ${file} (EACCES)`,
    ]);
  });
});
