import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Secret } from '../../src/domain/secret.ts';
import { configSchema } from '../../src/entry/config.ts';
import { type Resource, isPromql, renderChart, runHelm, typeErrors } from './chart.ts';
import { pathInRepository } from './tree-copy.ts';

/** Values that enable every option. */
const everything = {
  image: { repository: 'images.example/inlet', tag: '1.2.3' },
  imagePullSecrets: [{ name: 'pull' }],
  secretName: 'settings',
  certificatesSecretName: 'authority',
  settings: { INLET_S3_ENDPOINT: 'https://storage.example', INLET_WORKER_FILES: 8 },
  shutdownGraceSeconds: 120,
  api: { secretName: 'settings-of-api', tlsSecretName: 'certificate' },
  worker: { autoscaling: { enabled: true, selector: 'namespace="inlet"' } },
  serviceAccount: { annotations: { role: 'none' } },
  networkPolicy: {
    apiFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
  },
  podAnnotations: { team: 'data' },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'batch', operator: 'Exists' }],
};

/**
 * Settings that are neither secrets nor allowed in `settings`. The image or the chart sets them, or only one command or
 * the tests use them.
 */
const notAmongSettings = [
  'INLET_SHUTDOWN_GRACE_SECONDS',
  'INLET_CONSOLE_API_KEY_SIGN_IN',
  'INLET_API_HOST',
  'INLET_API_PORT',
  'INLET_METRICS_HOST',
  'INLET_METRICS_PORT',
  'INLET_TLS_CERT_FILE',
  'INLET_TLS_KEY_FILE',
  'INLET_STORAGE_ADMIN_ACCESS_KEY_ID',
  'INLET_FAILPOINT',
  'INLET_WEBHOOK_HTTP',
  'INLET_WEBHOOK_TIME_SCALE',
];

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string(), scheme: z.string().optional() }) });
const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  envFrom: z.array(z.object({ secretRef: z.object({ name: z.string() }) })),
  ports: z.array(z.looseObject({ name: z.string(), containerPort: z.int() })).default([]),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true) })).default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
});
const selectingSchema = z.looseObject({ matchLabels: z.record(z.string(), z.string()) });
const podSchema = z.object({
  template: z.object({
    metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
    spec: z.looseObject({
      automountServiceAccountToken: z.literal(false),
      terminationGracePeriodSeconds: z.int().optional(),
      securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
      containers: z.tuple([containerSchema]),
      volumes: z.array(z.looseObject({ name: z.string() })).default([]),
      topologySpreadConstraints: z
        .array(z.looseObject({ topologyKey: z.string(), labelSelector: selectingSchema }))
        .default([]),
    }),
  }),
});
const settingsSchema = z.object({
  properties: z.object({
    settings: z.object({ propertyNames: z.strictObject({ enum: z.array(z.string()) }) }),
  }),
});
const scaledSchema = z.object({
  scaleTargetRef: z.strictObject({ name: z.string() }),
  triggers: z.tuple([z.object({ metadata: z.object({ query: z.string(), threshold: z.string() }) })]),
});

const ofKind = (resources: readonly Resource[], ...kinds: string[]): Resource[] =>
  resources.filter(({ kind }) => kinds.includes(kind));
type Pod = z.infer<typeof podSchema>['template'];
const podsIn = (resources: readonly Resource[]): Pod[] =>
  ofKind(resources, 'Deployment', 'Job').map(({ spec }) => podSchema.parse(spec).template);
const isSelected = ({ metadata }: Pod, { matchLabels }: z.infer<typeof selectingSchema>): boolean =>
  Object.entries(matchLabels).every(([label, value]) => metadata.labels[label] === value);

describe.each([
  ['with default values', {}],
  ['with every option enabled', everything],
])('the chart %s', (_how, values) => {
  const resources = renderChart(values);
  const pods = podsIn(resources);

  it('passes `helm lint`', () => {
    const { passed, out } = runHelm(['lint', '--strict'], values);
    expect([passed, out]).toEqual([true, expect.stringContaining('0 chart(s) failed')]);
  });

  it('contains only resources and fields that Kubernetes defines', () => {
    const known = resources.filter(({ kind }) => kind !== 'ScaledObject');
    expect(known.length).toBeGreaterThanOrEqual(10);
    expect(typeErrors(known)).toEqual([]);
  });

  it('runs three read-only, non-root containers without capabilities', () => {
    // The schema above checks these restrictions for each container.
    expect(pods.map(({ spec }) => spec.containers[0].args)).toEqual(
      expect.arrayContaining([['api'], ['worker'], ['migrate']]),
    );
    expect(pods).toHaveLength(3);
  });

  it('references secrets and creates none', () => {
    expect(ofKind(resources, 'Secret')).toEqual([]);
    const settings = pods.flatMap(({ spec }) => spec.containers[0].env).map(({ name }) => name);
    const ofNode = 'NODE_EXTRA_CA_CERTS';
    expect(settings.filter((name) => name !== ofNode && !(name in configSchema.shape))).toEqual([]);
  });

  it('probes named ports that the containers define', () => {
    for (const { spec } of pods) {
      const [{ args, ports, startupProbe, livenessProbe, readinessProbe }] = spec.containers;
      if (args[0] === 'migrate') continue;
      const probes = [startupProbe, livenessProbe, readinessProbe].flatMap((one) => (one ? [one.httpGet] : []));
      expect(probes).toHaveLength(3);
      expect(probes.filter(({ port }) => !ports.some(({ name }) => name === port))).toEqual([]);
    }
  });

  it("configures a termination grace period longer than the process's own", () => {
    const spare = pods.flatMap(({ spec }) => {
      const [{ args, env }] = spec.containers;
      const grace = Number(env.find(({ name }) => name === 'INLET_SHUTDOWN_GRACE_SECONDS')?.value);
      return args[0] === 'migrate' ? [] : [(spec.terminationGracePeriodSeconds ?? 0) - grace];
    });
    // The API pod also waits five seconds before SIGTERM.
    expect(spare).toEqual([10, 5]);
  });

  it('selects the pods of exactly one process in each disruption budget and network policy', () => {
    const selectors = [
      ...ofKind(resources, 'PodDisruptionBudget').map(
        ({ spec }) => z.object({ selector: selectingSchema }).parse(spec).selector,
      ),
      ...ofKind(resources, 'NetworkPolicy').map(
        ({ spec }) => z.object({ podSelector: selectingSchema }).parse(spec).podSelector,
      ),
    ];
    expect(selectors).toHaveLength(5);
    for (const selector of selectors) expect(pods.filter((pod) => isSelected(pod, selector))).toHaveLength(1);
  });

  it('spreads the pods of a process across nodes', () => {
    const spread = pods.flatMap((pod) => {
      const [constraint] = pod.spec.topologySpreadConstraints;
      if (!constraint) return [];
      expect(pods.filter((other) => isSelected(other, constraint.labelSelector))).toEqual([pod]);
      return [[pod.spec.containers[0].name, constraint.topologyKey]];
    });
    expect(spread).toEqual([
      ['api', 'kubernetes.io/hostname'],
      ['worker', 'kubernetes.io/hostname'],
    ]);
  });

  it('runs migrations before anything else is installed', () => {
    const [job] = ofKind(resources, 'Job');
    expect(job?.metadata.annotations['helm.sh/hook']).toBe('pre-install,pre-upgrade');
  });
});

describe('the chart', () => {
  it('scales workers based on documented metrics', () => {
    const resources = renderChart(everything);
    const [scaled] = ofKind(resources, 'ScaledObject').map(({ spec }) => scaledSchema.parse(spec));
    const query = scaled?.triggers[0].metadata.query ?? '';
    const metrics = [...query.matchAll(/\binlet_\w+/g)].map(([name]) => name);
    const documented = readFileSync(pathInRepository('docs/metrics.md'), 'utf8');
    expect(metrics.length).toBeGreaterThan(0);
    expect(metrics.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
    expect([isPromql(query), isPromql('max(inlet_tokens_ready{)')]).toEqual([true, false]);
    const targets = ofKind(resources, 'Deployment').filter(
      ({ metadata }) => metadata.name === scaled?.scaleTargetRef.name,
    );
    // KEDA sets the number of replicas.
    const fields = targets.map(({ spec }) => Object.keys(z.record(z.string(), z.unknown()).parse(spec)));
    expect(fields).toEqual([['strategy', 'selector', 'template']]);
    expect(ofKind(renderChart(), 'ScaledObject')).toEqual([]);
  });

  it('probes an API that terminates TLS over HTTPS', () => {
    const scheme = (values: object): (string | undefined)[] =>
      podsIn(renderChart(values)).flatMap(({ spec }) => spec.containers[0].readinessProbe?.httpGet.scheme);
    expect(scheme(everything)).toContain('HTTPS');
    expect(scheme({})).not.toContain('HTTPS');
  });

  it.each([{}, { api: { tlsSecretName: 'certificate' } }])(
    'trusts a configured certificate authority in every pod: %j',
    (values) => {
      const trusting = (more: object) =>
        podsIn(renderChart({ ...values, ...more })).map(({ spec: { volumes, containers } }) => ({
          file: containers[0].env.find(({ name }) => name === 'NODE_EXTRA_CA_CERTS')?.value,
          mount: containers[0].volumeMounts.find(({ name }) => name === 'certificates')?.mountPath,
          volume: volumes.find(({ name }) => name === 'certificates')?.['secret'],
        }));
      const trusts = {
        file: '/certificates/ca.crt',
        mount: '/certificates',
        volume: { secretName: 'authority', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
      };
      const doesNot = { file: undefined, mount: undefined, volume: undefined };
      expect(trusting({ certificatesSecretName: 'authority' })).toEqual([trusts, trusts, trusts]);
      expect(trusting({})).toEqual([doesNot, doesNot, doesNot]);
    },
  );

  it('rejects autoscaling while network policies block access to the metrics', () => {
    const { passed, stderr } = runHelm(['template', 'inlet'], { worker: { autoscaling: { enabled: true } } });
    expect([passed, stderr]).toEqual([false, expect.stringContaining('networkPolicy.metricsFrom')]);
  });

  const digits = '0'.repeat(64);
  const secrets = Object.entries(configSchema.shape).flatMap(([name, schema]) => {
    const tries = ['abc', digits, `a:${digits}`, 'postgres://a@b/c', 'http://a@b'];
    const values = tries.flatMap((text) => {
      const parsed: unknown = schema.safeParse(text).data;
      return [parsed].flat(3);
    });
    return values.some((value) => value instanceof Secret) ? [name] : [];
  });

  const isAccepted = (values: object): boolean => runHelm(['template', 'inlet'], values).passed;

  it('lists every setting except secrets and settings that operators do not set', () => {
    const schema: unknown = JSON.parse(readFileSync(pathInRepository('deploy/helm/inlet/values.schema.json'), 'utf8'));
    const listed = settingsSchema.parse(schema).properties.settings.propertyNames.enum;
    expect(secrets).toContain('INLET_SEALING_KEYS');
    expect(secrets.length).toBeGreaterThanOrEqual(8);
    const excluded = new Set([...secrets, ...notAmongSettings]);
    expect(listed).toEqual(Object.keys(configSchema.shape).filter((name) => !excluded.has(name)));
  });

  it('rejects secrets and unknown names in `settings`', () => {
    const rejected = [...secrets, ...notAmongSettings, 'INLET_S3_ENDPONT'];
    expect(rejected.filter((name) => isAccepted({ settings: { [name]: 'x' } }))).toEqual([]);
    expect(isAccepted({ settings: { INLET_LOG_LEVEL: 'warn', INLET_S3_ENDPOINT: 'https://storage.example' } })).toBe(
      true,
    );
    expect(isAccepted({ workers: { replicas: 2 } })).toBe(false);
  });

  it.each([
    ['misspelled field', { selektor: {} }, 'selektor'],
    ['value of the wrong type', { ports: [{ port: 'eighty' }] }, "'string' is not assignable to type 'number'"],
  ])('fails the resource check for a %s', (_what, spec, error) => {
    const [service] = ofKind(renderChart(), 'Service');
    if (!service) throw new Error('no service');
    expect(typeErrors([service])).toEqual([]);
    expect(typeErrors([{ ...service, spec }])).toEqual([expect.stringContaining(error)]);
  });
});
