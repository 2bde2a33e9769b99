import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { notAmongChartSettings } from '../../scripts/pages/chart-schema-page.ts';
import { secretSettings } from '../../src/entry/secret-files.ts';
import { configSchema } from '../../src/entry/config.ts';
import { isPromql, renderChart, runHelm } from './chart.ts';
import { type Resource, schemaErrors, typeErrors } from './resource-schemas.ts';
import { pathInRepository } from './tree-copy.ts';

/** Values that enable every option. */
const everything = {
  image: { repository: 'images.example/inlet', tag: '1.2.3' },
  imagePullSecrets: [{ name: 'pull' }],
  secretName: 'settings',
  certificatesSecretName: 'authority',
  secretFiles: [
    { setting: 'INLET_SEALING_KEYS', secretName: 'vault', key: 'sealing' },
    { setting: 'INLET_S3_SECRET_ACCESS_KEY', secretName: 'storage', key: 'secret' },
  ],
  settings: {
    INLET_S3_ENDPOINT: 'https://storage.example',
    INLET_WORKER_FILES: 8,
    INLET_TRUSTED_PROXIES: '10.1.2.0/24',
    INLET_NOTIFICATIONS_URL: 'http://inlet-notifications.inlet.svc:9465',
  },
  extraEnv: [{ name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
  extraEnvFrom: [{ configMapRef: { name: 'more' } }],
  extraVolumes: [{ name: 'more', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'more', mountPath: '/more', readOnly: true }],
  shutdownGraceSeconds: 120,
  api: {
    secretName: 'settings-of-api',
    tlsSecretName: 'certificate',
    autoscaling: { enabled: true },
    service: { annotations: { team: 'data' } },
  },
  ingress: {
    enabled: true,
    className: 'nginx',
    annotations: { team: 'data' },
    hosts: ['a.example', 'b.example'],
    tlsSecretName: 'ingress',
  },
  worker: {
    autoscaling: { enabled: true, selector: 'namespace="inlet"', authenticationName: 'prometheus' },
    notifications: {
      enabled: true,
      from: [{ namespaceSelector: { matchLabels: { name: 'storage' } } }],
      service: { type: 'LoadBalancer', annotations: { team: 'data' } },
    },
    nodeSelector: { disk: 'slow' },
  },
  migrate: { timeoutSeconds: 3600 },
  backup: { enabled: true, volume: { persistentVolumeClaim: { claimName: 'backups' } } },
  monitoring: { labels: { release: 'prometheus' }, podMonitor: { enabled: true }, alerts: { enabled: true } },
  serviceAccount: { annotations: { role: 'none' } },
  networkPolicy: {
    apiFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
  },
  podLabels: { team: 'data' },
  podAnnotations: { team: 'data' },
  priorityClassName: 'high',
  affinity: { nodeAffinity: {} },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'batch', operator: 'Exists' }],
};

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string(), scheme: z.string().optional() }) });
const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
  envFrom: z.array(z.looseObject({ secretRef: z.object({ name: z.string() }).optional() })).default([]),
  ports: z.array(z.looseObject({ name: z.string(), containerPort: z.int() })).default([]),
  volumeMounts: z
    .array(z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().default(false) }))
    .default([]),
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
  definitions: z.object({ settingName: z.strictObject({ enum: z.array(z.string()) }) }),
});
const ingressSchema = z.looseObject({
  rules: z.array(z.object({ host: z.string(), http: z.object({ paths: z.array(z.unknown()) }) })),
});
const scaledSchema = z.object({
  scaleTargetRef: z.strictObject({ name: z.string() }),
  triggers: z.tuple([
    z.object({
      metadata: z.object({ query: z.string(), threshold: z.string(), ignoreNullValues: z.literal('false') }),
    }),
  ]),
});

const ofKind = (resources: readonly Resource[], ...kinds: string[]): Resource[] =>
  resources.filter(({ kind }) => kinds.includes(kind));
type Pod = z.infer<typeof podSchema>['template'];
const cronSchema = z.looseObject({ jobTemplate: z.object({ spec: podSchema }) });
const podsIn = (resources: readonly Resource[]): Pod[] => [
  ...ofKind(resources, 'Deployment', 'Job').map(({ spec }) => podSchema.parse(spec).template),
  ...ofKind(resources, 'CronJob').map(({ spec }) => cronSchema.parse(spec).jobTemplate.spec.template),
];
const profile = (name: string): object =>
  z.looseObject({}).parse(parse(readFileSync(pathInRepository(`deploy/helm/examples/${name}.yaml`), 'utf8')));
const nameOf = ({ spec }: Pod): string => spec.containers[0].name;
const isSelected = ({ metadata }: Pod, { matchLabels }: z.infer<typeof selectingSchema>): boolean =>
  Object.entries(matchLabels).every(([label, value]) => metadata.labels[label] === value);

describe.each([
  ['with default values', {}, ['api', 'worker', 'migrate']],
  ['with every option enabled', everything, ['api', 'worker', 'migrate', 'backup']],
  ['with the profile small', profile('small'), ['api', 'worker', 'migrate']],
  ['with the profile aws', profile('aws'), ['api', 'worker', 'migrate', 'backup']],
  ['with the profile on-prem', profile('on-prem'), ['api', 'worker', 'migrate', 'backup']],
])('the chart %s', (_how, values, processes) => {
  const resources = renderChart(values);
  const pods = podsIn(resources);

  it('passes `helm lint`', () => {
    const { passed, out } = runHelm(['lint', '--strict'], values);
    expect([passed, out]).toEqual([true, expect.stringContaining('0 chart(s) failed')]);
  });

  it('contains only resources and fields that Kubernetes and the operators define', async () => {
    expect(resources.length).toBeGreaterThanOrEqual(10);
    expect(typeErrors(resources)).toEqual([]);
    expect(await schemaErrors(resources)).toEqual([]);
  });

  it('runs only read-only, non-root containers without capabilities', () => {
    // The schema above checks these restrictions for each container.
    expect(pods.map(nameOf).toSorted()).toEqual(processes.toSorted());
  });

  it('references secrets and creates none', () => {
    expect(ofKind(resources, 'Secret')).toEqual([]);
    const names = pods.flatMap(({ spec }) => spec.containers[0].env).map(({ name }) => name);
    const known = new Set([...Object.keys(configSchema.shape), ...secretSettings.map((name) => `${name}_FILE`)]);
    expect(names.filter((name) => name.startsWith('INLET_') && !known.has(name))).toEqual([]);
  });

  it('probes named ports that the containers define', () => {
    for (const { spec } of pods) {
      const [{ name, ports, startupProbe, livenessProbe, readinessProbe }] = spec.containers;
      if (name !== 'api' && name !== 'worker') continue;
      const probes = [startupProbe, livenessProbe, readinessProbe].flatMap((one) => (one ? [one.httpGet] : []));
      expect(probes).toHaveLength(3);
      expect(probes.filter(({ port }) => !ports.some((one) => one.name === port))).toEqual([]);
    }
  });

  it("configures a termination grace period longer than the process's own", () => {
    const spare = pods.flatMap(({ spec }) => {
      const grace = Number(spec.containers[0].env.find(({ name }) => name === 'INLET_SHUTDOWN_GRACE_SECONDS')?.value);
      return spec.terminationGracePeriodSeconds === undefined ? [] : [spec.terminationGracePeriodSeconds - grace];
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
    expect(selectors).toHaveLength(2 + pods.length);
    for (const selector of selectors) expect(pods.filter((pod) => isSelected(pod, selector))).toHaveLength(1);
  });

  it('spreads the pods of a process across nodes and zones', () => {
    const spread = pods.flatMap((pod) =>
      pod.spec.topologySpreadConstraints.map(({ topologyKey, labelSelector }) => {
        expect(pods.filter((other) => isSelected(other, labelSelector))).toEqual([pod]);
        return `${nameOf(pod)} ${topologyKey}`;
      }),
    );
    expect(spread).toEqual([
      'api kubernetes.io/hostname',
      'api topology.kubernetes.io/zone',
      'worker kubernetes.io/hostname',
      'worker topology.kubernetes.io/zone',
    ]);
  });

  it('selects existing pods, Deployments, and ports', () => {
    const deployments = new Set(ofKind(resources, 'Deployment').map(({ metadata }) => metadata.name));
    const targets = ofKind(resources, 'HorizontalPodAutoscaler', 'ScaledObject').map(
      ({ spec }) => z.object({ scaleTargetRef: z.looseObject({ name: z.string() }) }).parse(spec).scaleTargetRef.name,
    );
    expect(targets.filter((name) => !deployments.has(name))).toEqual([]);
    const services = ofKind(resources, 'Service').map(({ metadata }) => metadata.name);
    const backends = ofKind(resources, 'Ingress').flatMap(({ spec }) => ingressSchema.parse(spec).rules);
    for (const { http } of backends) {
      expect(http.paths).toEqual([
        { path: '/', pathType: 'Prefix', backend: { service: { name: services[0], port: { name: 'http' } } } },
      ]);
    }
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

  it('lists every setting except secrets and settings that operators do not set', () => {
    const schema: unknown = JSON.parse(readFileSync(pathInRepository('deploy/helm/inlet/values.schema.json'), 'utf8'));
    const listed = settingsSchema.parse(schema).definitions.settingName.enum;
    expect(secretSettings).toContain('INLET_SEALING_KEYS');
    expect(secretSettings.length).toBeGreaterThanOrEqual(8);
    const all = [...listed, ...secretSettings, ...notAmongChartSettings];
    expect(all.toSorted()).toEqual(Object.keys(configSchema.shape).toSorted());
  });

  it('rejects secrets and unknown names in `settings`', () => {
    const rejected = [...secretSettings, ...notAmongChartSettings, 'INLET_S3_ENDPONT'];
    const settings = Object.fromEntries(rejected.map((name) => [name, 'x']));
    const { passed, stderr } = runHelm(['template', 'inlet'], { settings });
    expect([passed, rejected.filter((name) => !stderr.includes(`'${name}'`))]).toEqual([false, []]);
  });

  it('rejects unknown values', () => {
    const { passed, stderr } = runHelm(['template', 'inlet'], { workers: { replicas: 2 } });
    expect([passed, stderr]).toEqual([false, expect.stringContaining('workers')]);
  });

  it.each([
    ['misspelled field', { selektor: {} }, 'selektor'],
    ['value of the wrong type', { ports: [{ port: 'eighty' }] }, "'string' is not assignable to type 'number'"],
  ])('fails the resource check for a %s', (_what, spec, error) => {
    const [service] = ofKind(renderChart(), 'Service');
    if (!service) throw new Error('no service');
    expect(typeErrors([service])).toEqual([]);
    // The error is reported once for each version of Kubernetes.
    expect(typeErrors([{ ...service, spec }])).toEqual([
      expect.stringContaining(error),
      expect.stringContaining(error),
    ]);
  });
});
