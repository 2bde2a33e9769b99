import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { configSchema } from '../../src/entry/config.ts';
import { parseResources, renderChart, runHelm } from './chart.ts';
import { type Resource, schemaErrors, typeErrors } from './resource-schemas.ts';
import { pathInRepository } from './tree-copy.ts';

const textOf = (path: string): string => readFileSync(pathInRepository(path), 'utf8');
const specOf = <T extends z.ZodType>(resources: readonly Resource[], kind: string, schema: T): z.infer<T>[] =>
  resources.filter((one) => one.kind === kind).map(({ spec }) => schema.parse(spec));
/** Returns Helm's error, or an empty string if it renders the chart. */
const errorOf = (values: object): string => runHelm(['template', 'inlet'], values).stderr;
const peers = [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }];

const podSchema = z.object({
  template: z.object({
    spec: z.looseObject({
      serviceAccountName: z.string().optional(),
      priorityClassName: z.string().optional(),
      nodeSelector: z.record(z.string(), z.string()).optional(),
      containers: z.tuple([
        z.looseObject({
          name: z.string(),
          env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
          envFrom: z.array(z.unknown()).default([]),
          ports: z.array(z.object({ name: z.string(), containerPort: z.int() })).default([]),
          volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
        }),
      ]),
      volumes: z.array(z.looseObject({ name: z.string() })).default([]),
    }),
  }),
});
const podsOf = (values: object): z.infer<typeof podSchema>['template']['spec'][] => {
  const resources = renderChart(values);
  return ['Deployment', 'Job']
    .flatMap((kind) => specOf(resources, kind, podSchema))
    .map(({ template }) => template.spec);
};

describe('secret files', () => {
  const files = [
    { setting: 'INLET_POSTGRES_URL', secretName: 'postgres', key: 'uri' },
    { setting: 'INLET_CLICKHOUSE_CERT_FILE', secretName: 'tls', key: 'tls.crt' },
  ];

  it('secret files are mounted from several Secrets, and the settings contain their paths', () => {
    for (const { containers, volumes } of podsOf({ secretName: '', secretFiles: files })) {
      expect(volumes).toEqual([
        {
          name: 'secret-files',
          projected: {
            sources: [
              { secret: { name: 'postgres', items: [{ key: 'uri', path: 'INLET_POSTGRES_URL' }] } },
              { secret: { name: 'tls', items: [{ key: 'tls.crt', path: 'INLET_CLICKHOUSE_CERT_FILE' }] } },
            ],
          },
        },
      ]);
      const [{ env, envFrom, volumeMounts }] = containers;
      expect(volumeMounts).toEqual([{ name: 'secret-files', mountPath: '/run/secrets/inlet', readOnly: true }]);
      expect(env.filter(({ name }) => name.endsWith('_FILE'))).toEqual([
        { name: 'INLET_POSTGRES_URL_FILE', value: '/run/secrets/inlet/INLET_POSTGRES_URL' },
        { name: 'INLET_CLICKHOUSE_CERT_FILE', value: '/run/secrets/inlet/INLET_CLICKHOUSE_CERT_FILE' },
      ]);
      expect(envFrom).toEqual([]);
    }
  });

  it('the secret files for one process replace those for all processes', () => {
    const own = [{ setting: 'INLET_POSTGRES_URL', secretName: 'postgres-api', key: 'uri' }];
    const sources = podsOf({ secretFiles: files, api: { secretFiles: own } }).map(({ containers, volumes }) => [
      containers[0].name,
      JSON.stringify(volumes).includes('postgres-api'),
    ]);
    expect(sources).toEqual([
      ['api', true],
      ['worker', false],
      ['migrate', false],
    ]);
  });
});

describe('placement', () => {
  it('the placement of one process replaces the placement of all processes', () => {
    const values = { priorityClassName: 'high', nodeSelector: { disk: 'fast' } };
    const placed = podsOf({ ...values, worker: { nodeSelector: { disk: 'slow' } } }).map(
      ({ containers, priorityClassName, nodeSelector }) => [containers[0].name, priorityClassName, nodeSelector],
    );
    expect(placed).toEqual([
      ['api', 'high', { disk: 'fast' }],
      ['worker', 'high', { disk: 'slow' }],
      ['migrate', 'high', { disk: 'fast' }],
    ]);
  });
});

describe('the service account', () => {
  const accounts = (values: object): (string | undefined)[] =>
    podsOf(values).map(({ serviceAccountName }) => serviceAccountName);

  it('the migration job uses only a service account that exists before the chart is installed', () => {
    expect(accounts({})).toEqual(['inlet', 'inlet', undefined]);
    expect(accounts({ serviceAccount: { name: 'existing' } })).toEqual(['existing', 'existing', 'existing']);
  });
});

describe('storage notifications', () => {
  const notifications = { enabled: true, port: 9999, from: [{ ipBlock: { cidr: '10.20.0.0/16' } }] };
  const url = { INLET_NOTIFICATIONS_URL: 'http://inlet-notifications.inlet.svc:9999' };

  it('storage notifications reach only the port of the workers', () => {
    const resources = renderChart({ settings: url, worker: { notifications } });
    const settings = podsOf({ settings: url, worker: { notifications } }).map(
      ({ containers: [{ name, env, ports }] }) => [
        name,
        env.filter((one) => /_NOTIFICATIONS_(?:HOST|PORT)$/.test(one.name)).map(({ value }) => value),
        ports.filter((one) => one.name === 'notifications').map(({ containerPort }) => containerPort),
      ],
    );
    expect(settings).toEqual([
      ['api', [], []],
      ['worker', ['0.0.0.0', '9999'], [9999]],
      ['migrate', [], []],
    ]);
    const services = resources.filter(({ kind, metadata }) => kind === 'Service' && metadata.name !== 'inlet');
    expect(services.map(({ spec }) => spec)).toEqual([
      {
        type: 'ClusterIP',
        selector: {
          'app.kubernetes.io/name': 'inlet',
          'app.kubernetes.io/instance': 'inlet',
          'app.kubernetes.io/component': 'worker',
        },
        ports: [{ name: 'notifications', port: 9999, targetPort: 'notifications' }],
      },
    ]);
    const ruleSchema = z.looseObject({ ingress: z.array(z.looseObject({ ports: z.array(z.unknown()) })) });
    const rules = specOf(resources, 'NetworkPolicy', ruleSchema).flatMap(({ ingress }) => ingress);
    expect(rules.filter(({ ports }) => JSON.stringify(ports).includes('notifications'))).toEqual([
      { ports: [{ port: 'notifications', protocol: 'TCP' }], from: notifications.from },
    ]);
  });
});

describe('monitoring', () => {
  const values = {
    monitoring: { labels: { release: 'prometheus' }, podMonitor: { enabled: true }, alerts: { enabled: true } },
    networkPolicy: { metricsFrom: peers },
  };
  const resources = renderChart(values);

  it('installs exactly the tested alert rules', () => {
    const rules: unknown = parse(textOf('deploy/observability/alerts.yml'));
    expect(specOf(resources, 'PrometheusRule', z.unknown())).toEqual([rules]);
  });

  it('gives the scraped pods the job names that the alert rules expect', () => {
    const monitorSchema = z.looseObject({
      podMetricsEndpoints: z.tuple([z.looseObject({ port: z.string(), relabelings: z.array(z.unknown()) })]),
    });
    const [monitor] = specOf(resources, 'PodMonitor', monitorSchema);
    expect(monitor?.podMetricsEndpoints).toMatchObject([
      {
        port: 'metrics',
        relabelings: [
          {
            sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_component'],
            targetLabel: 'job',
            replacement: 'inlet-$1',
          },
        ],
      },
    ]);
    expect(textOf('deploy/observability/alerts.yml')).toContain('up{job=~"inlet-.*"}');
  });

  it('labels the PodMonitor and the PrometheusRule so that Prometheus selects them', () => {
    const labels = resources
      .filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/'))
      .map(({ kind, metadata }) => [kind, metadata.labels['release']]);
    expect(labels).toEqual([
      ['PodMonitor', 'prometheus'],
      ['PrometheusRule', 'prometheus'],
    ]);
  });
});

describe('the chart rejects', () => {
  it.each([
    ['a PodMonitor without access to the metrics', { monitoring: { podMonitor: { enabled: true } } }, 'metricsFrom'],
    ['autoscaling without access to the metrics', { worker: { autoscaling: { enabled: true } } }, 'metricsFrom'],
    ['an Ingress without trusted proxies', { ingress: { enabled: true, hosts: ['a.example'] } }, 'TRUSTED_PROXIES'],
    [
      'an Ingress in front of an API with TLS without trusted proxies',
      { ingress: { enabled: true, hosts: ['a.example'] }, api: { tlsSecretName: 'tls' } },
      'TRUSTED_PROXIES',
    ],
    [
      'notifications that no worker can receive',
      { settings: { INLET_NOTIFICATIONS_URL: 'http://inlet.example' } },
      'worker.notifications',
    ],
    [
      'notifications that the NetworkPolicy blocks',
      { worker: { notifications: { enabled: true } } },
      'worker.notifications.from',
    ],
    [
      "a backup without its image's digest",
      { image: { repository: 'inlet@sha256', tag: 'a' }, backup: { enabled: true, volume: { emptyDir: {} } } },
      'backup.image.tag',
    ],
    [
      'a cloud identity on a service account that does not exist before the migrations',
      { serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn' } } },
      'serviceAccount.name',
    ],
    [
      "the API's certificate as a secret file",
      { secretFiles: [{ setting: 'INLET_TLS_CERT_FILE', secretName: 'a', key: 'b' }] },
      '/secretFiles/0/setting',
    ],
    [
      'a misspelled secret file',
      { secretFiles: [{ setting: 'INLET_POSTGRES_URI', secretName: 'a', key: 'b' }] },
      '/secretFiles/0/setting',
    ],
    ['an Ingress without hosts', { ingress: { enabled: true, hosts: [] } }, 'hosts'],
    ['a backup without a volume', { backup: { enabled: true } }, 'backup.volume'],
    ['a secret file without a key', { secretFiles: [{ setting: 'INLET_X', secretName: 'a' }] }, 'key'],
  ])('%s', (_what, values, error) => {
    expect(errorOf(values)).toContain(error);
  });
});

describe('the resource checks', () => {
  const monitoring = { monitoring: { podMonitor: { enabled: true } }, networkPolicy: { metricsFrom: peers } };
  const resources = renderChart({ ...monitoring, api: { autoscaling: { enabled: true } } });
  const changed = (kind: string, change: object): Resource[] =>
    resources.filter((one) => one.kind === kind).map((one) => ({ ...one, spec: change }));

  it("the resource checks find a misspelled field in an operator's resource and a missing field", async () => {
    const monitor = { selector: {}, podMetricsEndpoints: [{ prot: 'metrics' }] };
    expect(typeErrors(changed('PodMonitor', monitor))).toEqual([expect.stringContaining('prot')]);
    const scaler = { scaleTargetRef: { kind: 'Deployment', name: 'inlet-api' } };
    expect(await schemaErrors(changed('HorizontalPodAutoscaler', scaler))).toEqual([
      expect.stringContaining('maxReplicas'),
    ]);
  });

  it('the resource checks find a value that does not match its pattern', async () => {
    const monitor = { selector: {}, podMetricsEndpoints: [{ port: 'metrics', interval: 'often' }] };
    expect(await schemaErrors(changed('PodMonitor', monitor))).toEqual([expect.stringContaining('interval')]);
  });
});

const profileSchema = z.looseObject({
  settings: z.record(z.string(), z.unknown()),
  ingress: z.looseObject({ hosts: z.array(z.string()) }),
  secretFiles: z.array(z.object({ setting: z.string(), secretName: z.string(), key: z.string() })).default([]),
});
const profileOf = (name: string): z.infer<typeof profileSchema> =>
  profileSchema.parse(parse(textOf(`deploy/helm/examples/${name}.yaml`)));

describe.each(['small', 'aws', 'on-prem'])('the profile %s', (name) => {
  const { settings, ingress } = profileOf(name);

  it('contains valid settings', () => {
    const shape: Record<string, z.ZodType> = configSchema.shape;
    const invalid = Object.entries(settings).filter(([setting, value]) => !shape[setting]?.safeParse(value).success);
    expect(invalid).toEqual([]);
  });

  it('serves the console on one of the Ingress hosts', () => {
    expect(ingress.hosts).toContain(new URL(String(settings['INLET_CONSOLE_URL'])).hostname);
  });
});

describe.each(['aws', 'on-prem'])('the profile %s', (name) => {
  it('verifies PostgreSQL with a mounted file, because pg_dump does not read NODE_EXTRA_CA_CERTS', () => {
    for (const { containers } of podsOf(profileOf(name))) {
      const [{ env, volumeMounts }] = containers;
      const valueOf = (setting: string) => env.find((one) => one.name === setting)?.value;
      expect(valueOf('INLET_POSTGRES_SSLMODE')).toBe('verify-full');
      expect(valueOf('INLET_POSTGRES_CA_FILE')).toBe('/certificates/ca.crt');
      expect(volumeMounts).toContainEqual(
        expect.objectContaining({ name: 'certificates', mountPath: '/certificates' }),
      );
    }
  });
});

describe('the profile aws', () => {
  it('contains no static keys', () => {
    expect(JSON.stringify(renderChart(profileOf('aws')))).not.toMatch(/ACCESS_KEY|SESSION_TOKEN/);
  });

  it('reads the Secret that the example for External Secrets creates', async () => {
    const resources = parseResources(textOf('deploy/helm/examples/external-secrets.yaml'));
    expect(typeErrors(resources)).toEqual([]);
    expect(await schemaErrors(resources)).toEqual([]);
    const secretSchema = z.looseObject({
      target: z.object({ name: z.string() }),
      data: z.array(z.looseObject({ secretKey: z.string() })),
    });
    const created = specOf(resources, 'ExternalSecret', secretSchema).flatMap(({ target, data }) =>
      data.map(({ secretKey }) => `${target.name} ${secretKey}`),
    );
    expect(profileOf('aws').secretFiles.map(({ secretName, key }) => `${secretName} ${key}`)).toEqual(created);
  });
});
