import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readExamples, runExample, writeExampleFiles } from '../../scripts/sdk/examples.ts';
import { programOf, runtimes } from '../../scripts/sdk/runtimes.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { installOnce } from '../support/packed-packages.ts';
import { joinMarketplace, type Marketplace } from '../support/start-marketplace.ts';

// Tests the SDK as partners install it. It is packed, installed in an empty folder, and run on each supported runtime.

const examples = readExamples();
const [main, problems] = examples;

/** The gate tests the runtime that the service uses. The long run tests all of them. */
const testedRuntimes = runtimes.filter(({ name }) => inject('campaign') === 'long' || name === 'Node.js 24');

describe('the packed SDK', () => {
  let marketplace: Marketplace;
  let installed: Awaited<ReturnType<typeof installOnce>>;

  beforeAll(async () => {
    marketplace = await joinMarketplace();
    const { partner, service } = marketplace;
    for (const name of ['sports', 'travel', 'music']) await partner.createAttribute(name, name);
    installed = await installOnce('sdk');
    const { endpoint, region } = readAddresses().s3;
    const { bucket, prefix, storageKeys } = partner;
    const storage = { endpoint, region, bucket, prefix, ...storageKeys };
    await writeExampleFiles(installed.folder, { url: service.url, apiKey: partner.apiKey, storage });
  });
  afterAll(async () => {
    installed.remove();
    await marketplace.stop();
  });

  it('contains only compiled code and types', () => {
    const folder = join(installed.folder, 'node_modules/@inlet/sdk');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files).toEqual(expect.arrayContaining(['inlet.js', 'inlet.d.ts', 'LICENSE', 'README.md', 'package.json']));
    const others = files.filter((file) => !/(?:\.js|\.d\.ts)$/.test(file) || file.includes('.test.'));
    expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'generated', 'package.json', 'upload']);
  });

  it('installs only a few packages', () => {
    const packages = readdirSync(join(installed.folder, 'node_modules'), { recursive: true, encoding: 'utf8' });
    const names = packages.filter((path) => existsSync(join(installed.folder, 'node_modules', path, 'package.json')));
    expect(names.filter((path) => /^(@[^/]+\/)?[^/]+$/.test(path)).length).toBeLessThanOrEqual(8);
    expect(names.filter((path) => /^(zod|@inlet\/contract)$/.test(path))).toEqual([]);
  });

  it('the packed SDK has types that accept its examples and reject an unknown error code', () => {
    const wrong = `${problems?.code}\nif (!found.ok && found.problem.code === 'no_such_code') throw new Error();\n`;
    const errors = compilerErrorsOf(installed.folder, [...examples.map(({ code }) => code), wrong]);
    expect(errors).toEqual([expect.stringMatching(new RegExp(`^checked-${examples.length}.mts.*TS2367`))]);
  });

  it('the packed SDK has examples in its README', () => {
    expect(examples.length).toBeGreaterThanOrEqual(6);
    expect(main?.prints.length).toBeGreaterThanOrEqual(4);
    expect(examples.filter(({ prints }) => prints.length === 0)).toEqual([]);
  });

  it.each(examples)('the packed SDK behaves as its README shows: $title', async (example) => {
    const printed = await runExample(installed.folder, process.execPath, example);
    expect(printed.split('\n')).toEqual(expect.arrayContaining([...example.prints]));
  });

  it.each(testedRuntimes)('uploads, imports, waits, and reads the rejected rows on $name', async (runtime) => {
    if (!main) throw new Error('no example');
    const printed = (await runExample(installed.folder, programOf(runtime), main)).split('\n');
    expect(printed.filter((line) => main.prints.includes(line))).toEqual(main.prints);
    expect(printed.filter((line) => / of \d+ bytes$/.test(line)).length).toBeGreaterThanOrEqual(3);
    expect(printed).toContain('status 2, 100 %');
  });

  it.each(testedRuntimes)('prints no key on $name', async (runtime) => {
    const code = [
      main?.code.split('\n\n')[0],
      "import { inspect } from 'node:util';",
      "const settings = JSON.parse(await readFile('inlet.json', 'utf8'));",
      'const client = new Inlet(settings);',
      'console.log(client, [client], JSON.stringify(client), String(client), inspect(client, { showHidden: true, depth: 9 }));',
      "console.log(await new Inlet({ ...settings, url: 'http://127.0.0.1:1', retry: { attempts: 1 } }).listAttributes());",
    ].join('\n');
    const printed = await runExample(installed.folder, programOf(runtime), { title: '', code, prints: [] });
    expect(printed).toContain('network_failed');
    expect(printed).not.toContain(marketplace.partner.apiKey);
    expect(printed).not.toContain(marketplace.partner.storageKeys.secretAccessKey);
  });
});

/** Returns the compiler errors of programs in a partner's folder. */
function compilerErrorsOf(folder: string, codes: readonly string[]): string[] {
  const files = codes.map((code, index) => {
    const file = `checked-${index}.mts`;
    writeFileSync(join(folder, file), code);
    return file;
  });
  const modules = join(import.meta.dirname, '../../node_modules');
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
  const where = ['--typeRoots', join(modules, '@types'), '--skipLibCheck', 'false'];
  const { stdout } = spawnSync(join(modules, '.bin/tsc'), [...options, ...where, ...files], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}
