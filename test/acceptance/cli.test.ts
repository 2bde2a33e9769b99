import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importLogSchema } from '../../src/adapters/http/records/import-log.ts';
import manifest from '../../packages/cli/package.json' with { type: 'json' };
import { readAddresses } from '../../stack/addresses.ts';
import { device } from '../support/device-id.ts';
import { createOwnBucket } from '../support/own-bucket.ts';
import { parseCsv } from '../support/parse-csv.ts';
import { installPartnerCli, type PartnerCli } from '../support/partner-cli.ts';
import type { Ran } from '../support/run-inlet.ts';
import { joinMarketplace, type Marketplace } from '../support/start-marketplace.ts';

// Tests the partner CLI in scripts, without a terminal. cli-terminal.test.ts covers terminals.

const escape = '\x1b';
const idSchema = z.object({ import_log_id: z.int() });

describe('inlet in a script', () => {
  let marketplace: Marketplace;
  let cli: PartnerCli;
  let environment: Record<string, string>;
  const everything: string[] = [];

  beforeAll(async () => {
    marketplace = await joinMarketplace();
    const { partner, service } = marketplace;
    for (const name of ['sports', 'travel', 'music']) await partner.createAttribute(name, name);
    await partner.upload('good.csv', `${device(1)},sports\n${device(2)},travel|music\n`);
    await partner.upload('bad.csv', `${device(1)},sports\nnot-an-id,sports\n${device(2)},golf\n`);
    await partner.upload('day/1.csv', `${device(3)},sports\n`);
    await partner.upload('day/\u202e2.csv', `${device(4)},sports\nnot-an-id,sports\n`);
    await partner.upload('members.csv', `${device(1)},click\n${device(2)},\n`);
    await partner.upload('more-members.csv', `${device(3)},click\n`);
    cli = await installPartnerCli();
    environment = { INLET_URL: service.url, INLET_API_KEY: partner.apiKey };
  });
  afterAll(async () => {
    cli.remove();
    await marketplace.stop();
  });

  const run = async (
    words: string,
    more: Record<string, string> = {},
    input = '',
    onText?: (part: string) => void,
  ): Promise<Ran> => {
    const ran = await cli.run(words.split(' '), { ...environment, ...more }, input, onText);
    everything.push(ran.out, ran.err);
    expect(ran.out + ran.err).not.toContain(escape);
    return ran;
  };
  const json = async (words: string): Promise<unknown> => {
    const { code, out, err } = await run(`${words} --json`);
    expect({ code, err }).toMatchObject({ code: 0 });
    return JSON.parse(out);
  };

  const lastImportOf = async (path: string): Promise<number | undefined> => {
    const records = z.array(importLogSchema).parse(await json('imports'));
    return records.find(({ file_path }) => file_path === path)?.import_log_id;
  };

  it('installs only compiled code and a few packages', () => {
    const folder = join(cli.folder, 'node_modules/@inlet/cli');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files).toEqual(expect.arrayContaining(['main.js', 'LICENSE', 'README.md', 'package.json']));
    expect(files.filter((file) => /\.ts$|\.test\./.test(file))).toEqual([]);
    expect(readdirSync(join(cli.folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@inlet',
      '@smithy',
      'commander',
      'tslib',
    ]);
  });

  it('imports a file, waits for completion, and prints only the result to standard output', async () => {
    const ran = await run('import bad.csv --key-type foreign --watch');
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.out).toMatch(/^import \d+: done, 3 rows, 1 device, 2 rows rejected\n\nCODE +COUNT +FIRST AT +WHY\n/);
    expect(ran.out).toMatch(/^invalid_id +1 +bad.csv:2 /m);
    expect(ran.err).toMatch(
      /^import (\d+) is queued\n(import \1: (?:pending|running), .*\n)*List the rejected rows: inlet errors \1\n$/,
    );
  });

  it('prints only the result with --quiet', async () => {
    const { code, err, out } = await run('import good.csv --key-type foreign --watch --quiet');
    expect([code, err, out]).toEqual([0, '', expect.stringMatching(/^import \d+: done, 2 rows, 2 devices\n$/)]);
  });

  it('prints each change as one line of JSON', async () => {
    const { code, out } = await run('import good.csv --key-type foreign --mode replace --watch --json');
    const records = out
      .trimEnd()
      .split('\n')
      .map((line) => importLogSchema.parse(JSON.parse(line)));
    expect(code).toBe(0);
    expect(records.at(-1)).toMatchObject({ status: 2, total_rows: '2' });
    expect(records.filter(({ status }) => status > 1)).toHaveLength(1);
  });

  it('queues one import per idempotency key', async () => {
    const words = 'import day/ --key-type 1 --no-compressed --idempotency-key monday';
    const first = idSchema.parse(await json(words));
    expect(await json(words)).toEqual(first);
    const { out } = await run(`imports ${first.import_log_id} --watch`);
    expect(out).toContain(`import ${first.import_log_id}: done, 3 rows, 2 devices, 1 row rejected`);
    // Characters that change the text direction are escaped.
    expect(out).toContain(String.raw`day/\u202e2.csv:2`);
    expect(await json(`imports ${first.import_log_id}`)).toMatchObject({ status: 2 });
    expect((await run(`imports ${first.import_log_id}`)).out).toMatch(/^rejected rows {2}1$/m);
  });

  it('lists imports and stops watching when no job is open', async () => {
    const listed = z.array(importLogSchema).parse(await json('imports'));
    expect(listed.length).toBeGreaterThanOrEqual(4);
    expect((await run('imports --type delete --path good')).out).toBe('No imports match.\n');
    const done = z.array(importLogSchema).parse(await json('imports --status done --type import --path good'));
    expect(done.length).toBeGreaterThan(0);
    expect(done.every(({ status, file_path }) => status === 2 && file_path.startsWith('good'))).toBe(true);
    expect(await run('imports --status finished')).toMatchObject({ code: 2 });
    expect(await json('imports --created-to 2020-01-01')).toEqual([]);
    const { out } = await run('imports --limit 2');
    expect(out.split('\n')).toHaveLength(4);
    expect(out).toMatch(/^ID +STATUS +WHAT +PATH OR KEYS/);
    // The worker is stopped until the watch has started.
    const { worker } = marketplace.service;
    worker.kill('SIGSTOP');
    try {
      const { import_log_id: id } = idSchema.parse(await json('import good.csv --key-type foreign'));
      const watched = await run('imports --watch', {}, '', (part) => {
        if (part.includes(`import ${id}: `)) worker.kill('SIGCONT');
      });
      expect(watched.code).toBe(0);
      expect(watched.out).toMatch(new RegExp(`^import ${id}: done, 2 rows`, 'm'));
    } finally {
      worker.kill('SIGCONT');
    }
  });

  it('shows rejected rows as a table, CSV, and JSON', async () => {
    const id = await lastImportOf('bad.csv');
    const rows = z.array(z.looseObject({ code: z.string(), row: z.int() })).parse(await json(`errors ${id}`));
    expect(rows.map(({ code, row }) => [code, row])).toEqual([
      ['invalid_id', 2],
      ['unknown_key', 3],
    ]);
    const [heading, ...lines] = parseCsv((await run(`errors ${id} --csv`)).out);
    expect(heading).toEqual(['file', 'row', 'column', 'code', 'message', 'text']);
    expect(lines.map((line) => [line[0], line[1], line[5]])).toEqual([
      ['bad.csv', '2', 'not-an-id,sports'],
      ['bad.csv', '3', `${device(2)},golf`],
    ]);
    const limited = await run(`errors ${id} --limit 1`);
    expect(limited.out).toMatch(/^WHERE .*\nbad\.csv:2 +id +invalid_id +not-an-id,sports +\S.*\n$/);
    expect(limited.err).toContain('There are more');
    expect(await json(`errors ${await lastImportOf('good.csv')}`)).toEqual([]);
  });

  it('exports all rejected rows of an import and downloads them', async () => {
    const { import_log_id: id } = idSchema.parse(await json('import bad.csv --key-type foreign'));
    await run(`imports ${id} --watch`);
    const directory = join(cli.folder, 'downloads');
    const { code, out } = await run(`rejects ${id} --download --directory ${directory}`);
    expect([code, out]).toEqual([0, `import ${id}: 2 rejected rows exported in 1 file\n`]);
    const file = readFileSync(join(directory, `rejects/${id}/1/bad.csv.csv.gz`));
    const rows = parseCsv(gunzipSync(file).toString());
    expect(rows.slice(1).map(([, row, , reason]) => [row, reason])).toEqual([
      ['2', 'invalid_id'],
      ['3', 'unknown_key'],
    ]);
    expect(await json(`rejects ${id}`)).toMatchObject({ status: 2, rows: 2, files: [{ file: 'bad.csv', rows: 2 }] });
    expect(await run('rejects 999999')).toMatchObject({ code: 1, out: '' });
  });

  it('predicts the result of an import with --dry-run and imports nothing', async () => {
    const before = await lastImportOf('bad.csv');
    const { code, out } = await run('import bad.csv --key-type foreign --dry-run');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^1 file, \d+ B\n\nFILE +ACCEPTED +REJECTED +SAMPLE +WHY\nbad.csv +1 +2 +whole file +invalid_id, /,
    );
    const missing = await run('import missing.csv --key-type foreign --dry-run');
    expect(missing.code).toBe(1);
    expect(missing.err).toContain('no_files');
    expect(await lastImportOf('bad.csv')).toBe(before);
  });

  it('creates, appends to, shows, lists, and clears an audience', async () => {
    const made = await cli.run(['audience', 'create', 'Summer \u202e', 'members.csv', '--watch'], environment);
    expect(made).toMatchObject({ code: 0 });
    const id = /audience (\d+): done, 1 of 1 file processed, 2 devices/.exec(made.out)?.[1];
    expect((await run(`audience append ${id} more-members.csv --watch`)).out).toContain(
      'done, 2 of 2 files processed, 3 devices',
    );
    expect(await json(`audience show ${id}`)).toMatchObject({ name: 'Summer \u202e', unique_devices: 3 });
    expect((await run('audience list')).out).toContain(String.raw`Summer \u202e`);
    expect((await run(`audience show ${id}`)).out).toMatch(/more-members\.csv +done +1 /);
    const unasked = await run(`audience clear ${id}`);
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('Provide --yes.')]);
    expect(await json(`audience show ${id}`)).toMatchObject({ unique_devices: 3 });
    expect(await run(`audience clear ${id} --yes`)).toMatchObject({ code: 0, out: `audience ${id} is cleared\n` });
    expect(await json(`audience show ${id}`)).toMatchObject({ unique_devices: 0 });
    expect(await json(`errors ${id} --audience`)).toEqual([]);
  });

  it('renames, follows, corrects, and deletes an audience', async () => {
    const path = `broken-${Date.now()}/`;
    await marketplace.partner.upload(`${path}1.csv`, `${device(1)},\n`);
    await marketplace.partner.upload(`${path}2.csv`, 'nonsense,\n');
    const made = await run(`audience create Broken ${path} --watch`);
    expect(made.code).toBe(1);
    expect(made.out).toMatch(/^invalid_id +1 .*2\.csv:1 /m);
    const id = /audience (\d+): failed/.exec(made.out)?.[1];
    expect((await run(`audience show ${id}`)).out).toMatch(/^invalid_id +1 .*2\.csv:1 /m);
    expect(await run(`audience rename ${id} Mended`)).toMatchObject({
      code: 0,
      out: `audience ${id} is now "Mended"\n`,
    });
    const history = await run(`audience history ${id}`);
    const append = new RegExp(`^ *(\\d+) .* key \\d+ +${path} +failed +1/2 +1$`, 'm').exec(history.out)?.[1];
    expect(append, history.out).toBeDefined();
    const late = await run(`audience cancel ${id} ${append}`);
    expect([late.code, late.err]).toEqual([2, expect.stringContaining('append_not_cancelable')]);
    expect((await run('audience list --status failed --name mend')).out).toMatch(new RegExp(`^ *${id} +failed`, 'm'));
    expect((await run('audience list --status done,running --name mend')).out).toBe('No audiences match.\n');
    await marketplace.partner.upload(`${path}2.csv`, `${device(2)},\n`);
    const retried = await run(`audience retry ${id} ${append} --failed-only --watch`);
    expect([retried.code, retried.out]).toEqual([
      0,
      expect.stringContaining('done, 2 of 2 files processed, 2 devices'),
    ]);
    expect(await json(`audience history ${id} --limit 1`)).toMatchObject([{ append: { retry_of: Number(append) } }]);
    expect(await run(`audience delete ${id}`)).toMatchObject({ code: 2 });
    expect(await run(`audience delete ${id} --yes`)).toMatchObject({ code: 0, out: `audience ${id} is deleted\n` });
    const gone = await run(`audience show ${id}`);
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('not_found')]);
    expect((await run('audience list --customer *')).out).not.toContain('Mended');
  });

  it('dismisses a failed file in an audience', async () => {
    const made = await run('audience create Dismissed missing.csv --watch');
    const id = /audience (\d+): failed/.exec(made.out)?.[1];
    const shown = await run(`audience show ${id}`);
    const file = /^(path-\d+) +\S*missing\.csv +failed/m.exec(shown.out)?.[1];
    expect(shown.err).toContain(`inlet audience dismiss ${id} <file>`);
    expect(await run(`audience dismiss ${id} ${file}`)).toMatchObject({ code: 0, out: `file ${file} is dismissed\n` });
    expect(await json(`audience show ${id}`)).toMatchObject({ status: 2 });
    expect(await run(`audience dismiss ${id} 999999`)).toMatchObject({ code: 1 });
  });

  it('imports only the failed files when an import is retried', async () => {
    const path = `partly-${Date.now()}/`;
    await marketplace.partner.upload(`${path}1.csv`, `${device(1)},sports\n`);
    await marketplace.partner.upload(`${path}2.csv`, 'nonsense\n');
    await run(`import ${path} --no-compressed --key-type foreign --watch`);
    const id = await lastImportOf(path);
    await marketplace.partner.upload(`${path}2.csv`, `${device(2)},sports\n`);
    const retried = await run(`retry ${id} --failed-only --watch`);
    expect([retried.code, retried.out]).toEqual([0, expect.stringContaining('done')]);
    expect(await json(`imports ${await lastImportOf(path)}`)).toMatchObject({ retry_of: id, total_rows: '1' });
  });

  it('lists the event for a computed report', async () => {
    const before =
      z
        .array(z.object({ sequence: z.int() }))
        .parse(await json('events --limit 1000'))
        .at(-1)?.sequence ?? 0;
    expect((await run(`events --after ${before}`)).out).toBe(`There are no events after ${before}.\n`);
    const id = /audience (\d+): done/.exec((await run('audience create Report members.csv --watch')).out)?.[1];
    expect(await run(`audience report ${id}`)).toMatchObject({ code: 0 });
    const { out } = await run(`events --after ${before}`);
    expect(out).toMatch(new RegExp(`audience\\.ready +- +/v2/firstparty/audience/${id}$`, 'm'));
    expect(out).toMatch(/report\.ready +- +\/v2\/firstparty\/segments\/\d+\/composition$/m);
  });

  it("shows attributes and limits, and deletes an attribute's data", async () => {
    expect((await run('attributes')).out).toMatch(/^ *\d+ +sports +sports +yes$/m);
    expect(await json('limits')).toMatchObject({ open_jobs: 200 });
    expect((await run('limits')).out).toMatch(/^files_per_prefix +10,000$/m);
    expect((await run('limits')).out).toMatch(/^audiences +10,000 +\d+$/m);
    expect(await run('delete-attributes music --key-type foreign')).toMatchObject({ code: 2, out: '' });
    const deleted = await run('delete-attributes music --key-type foreign --yes --watch');
    expect([deleted.code, deleted.out]).toEqual([0, expect.stringMatching(/^delete \d+: done/)]);
  });

  it("imports from the partner's own bucket with a secret from the environment", async () => {
    const own = await createOwnBucket();
    await own.upload('in/day.csv', `${device(7)},sports\n`);
    const { region, accessKeyId, secretAccessKey } = own.credentials;
    const words = `import s3://${own.bucket}/in/ --no-compressed --key-type foreign --region ${region} --watch --json`;
    const secret = { INLET_SOURCE_SECRET_ACCESS_KEY: secretAccessKey };
    const { code, out, err } = await run(`${words} --access-key-id ${accessKeyId}`, secret);
    expect(code).toBe(0);
    const last = importLogSchema.parse(JSON.parse(out.trimEnd().split('\n').at(-1) ?? ''));
    expect(last).toMatchObject({ status: 2, path_type: 1, total_rows: '1' });
    expect(err).toContain('is queued');
    expect(out + err).not.toContain(secretAccessKey);
    expect(await run(`import good.csv --key-type foreign --region ${region}`, secret)).toMatchObject({
      code: 2,
      out: '',
    });
  });

  it('creates audiences for the customer that a user token belongs to', async () => {
    const { userToken } = await marketplace.partner.createCustomer('Blue Shoes');
    const asCustomer = { INLET_USER_TOKEN: userToken };
    expect(await run('audience create Shoes members.csv --watch', asCustomer)).toMatchObject({ code: 0 });
    const [theirs, own] = [await run('audience list', asCustomer), await run('audience list')];
    expect(theirs.out).toMatch(/ Shoes /);
    expect(own.out).not.toMatch(/ Shoes /);
    expect(theirs.out + theirs.err).not.toContain(userToken);
    expect(await run('audience list', { INLET_USER_TOKEN: 'wrong' })).toMatchObject({ code: 3 });
  });

  it.each<[words: string, code: number, why: string, more?: Record<string, string>]>([
    [
      'imports 999999',
      1,
      'not_found: Not found\n  cause:   Import log 999999 does not exist.\n  remedy:  Check the path and the ID',
    ],
    ['import gone.csv --key-type foreign --watch', 1, 'no_files: import'],
    ['import day/ --key-type foreign', 2, 'missing_answer: The compression of files under a prefix is required'],
    ['import good.csv', 2, 'missing_answer: The key type is required, but there is no terminal for a prompt.'],
    [
      'import s3://own/x.csv --key-type foreign --region eu-central-1 --access-key-id A',
      2,
      'Provide INLET_SOURCE_SECRET',
    ],
    ['import ../x.csv --key-type foreign', 2, 'invalid_file_path: '],
    ['delete-attributes golf --key-type foreign --yes', 2, 'unknown_keys: Unknown keys'],
    ['imports 1x', 2, 'wrong_use: "1x" is not a valid import ID.'],
    ['import good.csv --key-type own', 2, 'Allowed choices are attribute, foreign'],
    ['imports --josn', 2, 'Did you mean --json?'],
    ['limits --profile staging', 3, 'no_login: You are not logged in.', { INLET_API_KEY: '', INLET_URL: '' }],
    ['limits', 3, 'unauthenticated: API key is missing or invalid', { INLET_API_KEY: 'wrong' }],
    [
      'limits',
      4,
      'network_failed: connect ECONNREFUSED 127.0.0.1:3 (tried 5 times)',
      { INLET_URL: 'http://127.0.0.1:3' },
    ],
    ['login', 2, 'missing_answer: Inlet URL is required', { INLET_URL: '' }],
  ])('reports an error for "%s" and exits %i', async (words, code, why, more = {}) => {
    const ran = await run(words, more);
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(why)]);
  });

  it('prints its version', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, out: `${manifest.version}\n` });
  });

  it('shows the request ID that the service logs', async () => {
    expect((await run('imports 999999')).err).toMatch(/^ {2}request: [\w-]{8,}$/m);
  });

  it('logs in with a credentials file, saves a profile that only its owner can read, and logs out', async () => {
    const { partner, service } = marketplace;
    const { endpoint, region } = readAddresses().s3;
    const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = partner.storageKeys;
    const storage = {
      endpoint,
      region,
      bucket: partner.bucket,
      prefix: partner.prefix,
      access_key_id,
      secret_access_key,
    };
    writeFileSync(join(cli.folder, 'issued.json'), JSON.stringify({ api_key: partner.apiKey, storage }));
    const nothing = { INLET_URL: '', INLET_API_KEY: '' };
    const wrong = { ...nothing, INLET_API_KEY: 'wrong' };
    expect(await run(`login --url ${service.url}`, wrong)).toMatchObject({ code: 3 });
    expect((await run('profiles', nothing)).out).toBe('You are not logged in. Run: inlet login\n');
    expect(await run(`login --url ${service.url} --from issued.json`, nothing)).toMatchObject({ code: 0 });
    const file = join(cli.folder, 'home/.config/inlet/profiles.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      current: 'default',
      profiles: { default: { url: service.url, apiKey: partner.apiKey, storage: { accessKeyId: access_key_id } } },
    });
    expect(await run('limits', nothing)).toMatchObject({ code: 0 });
    const elsewhere = { INLET_URL: 'http://127.0.0.1:3', INLET_API_KEY: 'wrong' };
    expect(await run('limits --profile default', elsewhere)).toMatchObject({ code: 0 });
    expect(
      await run(
        'login --profile ci --from -',
        { ...nothing, INLET_URL: service.url },
        JSON.stringify({ api_key: partner.apiKey }),
      ),
    ).toMatchObject({ code: 0 });
    expect((await run('profiles', nothing)).out).toMatch(/^default +no .*\nci +yes /m);
    const typo = await run('limits --profile defualt', nothing);
    expect([typo.code, typo.err]).toEqual([3, expect.stringContaining('Did you mean "default"?')]);
    expect(await run('logout', nothing)).toMatchObject({ code: 0, err: 'Profile "default" is now current.\n' });
    expect(await run('logout', nothing)).toMatchObject({ code: 0 });
    expect(await run('limits', nothing)).toMatchObject({ code: 3 });
  });

  it('never prints a key', () => {
    const { apiKey, storageKeys } = marketplace.partner;
    const text = everything.join('\n');
    expect(text.length).toBeGreaterThan(5_000);
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain(storageKeys.secretAccessKey);
  });
});
