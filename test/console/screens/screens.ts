/** The IDs that screen paths contain. */
export type Seeded = {
  readonly importLogId: number;
  readonly audienceId: number;
  readonly otherAudienceId: number;
  readonly segmentId: number;
  /** The report of a customer's audience. */
  readonly customerSegmentId: number;
  readonly failedJobId: number;
  readonly webhookId: number;
  readonly subscriptionId: number;
};

export type Screen = {
  /** The beginning of its image names. */
  readonly name: string;
  readonly title: string;
  readonly role: 'none' | 'link' | 'customer' | 'partner' | 'operator';
  readonly path: (seeded: Seeded) => string;
  /** A button to press first. */
  readonly press?: string;
  /** The beginning of a heading or sentence to wait for. */
  readonly shows?: string;
};

/** Every screen of the console, in the order of the contact sheet. Paths follow /console/. */
export const screens: readonly Screen[] = [
  { name: 'sign-in', title: 'Sign in', role: 'none', path: () => 'sign-in' },
  {
    name: 'link-report',
    title: 'Report behind a one-time link, as a customer sees it',
    role: 'link',
    path: ({ customerSegmentId }) => `segments/${customerSegmentId}/composition`,
  },
  { name: 'link-used', title: 'One-time link that was already used', role: 'none', path: () => 'open#used' },
  { name: 'customer-audiences', title: 'Audiences of a signed-in customer', role: 'customer', path: () => 'audiences' },
  {
    name: 'composition',
    title: 'Composition report',
    role: 'partner',
    path: ({ segmentId }) => `segments/${segmentId}/composition`,
  },
  {
    name: 'overlap',
    title: 'Overlap',
    role: 'partner',
    path: ({ audienceId, otherAudienceId }) => `overlap?audiences=${audienceId},${otherAudienceId}`,
    press: 'Count the overlap',
    shows: 'Counting again is free',
  },
  { name: 'imports', title: 'Imports', role: 'partner', path: () => 'imports' },
  { name: 'import', title: 'Import', role: 'partner', path: ({ importLogId }) => `imports/${importLogId}` },
  {
    name: 'import-errors',
    title: 'Rejected rows of an import',
    role: 'partner',
    path: ({ importLogId }) => `imports/${importLogId}/errors`,
  },
  { name: 'new-import', title: 'New import', role: 'partner', path: () => 'imports/new' },
  { name: 'subscriptions', title: 'Subscriptions', role: 'partner', path: () => 'subscriptions' },
  {
    name: 'subscription',
    title: 'Subscription with its files',
    role: 'partner',
    path: ({ subscriptionId }) => `subscriptions/${subscriptionId}`,
  },
  { name: 'audiences', title: 'Audiences', role: 'partner', path: () => 'audiences' },
  { name: 'audience', title: 'Audience', role: 'partner', path: ({ audienceId }) => `audiences/${audienceId}` },
  {
    name: 'clear-audience',
    title: 'Confirmation before an audience is cleared',
    role: 'partner',
    path: ({ audienceId }) => `audiences/${audienceId}`,
    press: 'Clear …',
    shows: 'Clear this audience?',
  },
  {
    name: 'audience-errors',
    title: 'Rejected rows of an audience',
    role: 'partner',
    path: ({ audienceId }) => `audiences/${audienceId}/errors`,
  },
  {
    name: 'append',
    title: 'Append to an audience',
    role: 'partner',
    path: ({ audienceId }) => `audiences/${audienceId}/append`,
  },
  { name: 'new-audience', title: 'New audience', role: 'partner', path: () => 'audiences/new' },
  { name: 'attributes', title: 'Attributes', role: 'partner', path: () => 'attributes' },
  { name: 'keys', title: 'Keys', role: 'partner', path: () => 'keys' },
  { name: 'customers', title: 'Customers', role: 'partner', path: () => 'customers' },
  { name: 'webhooks', title: 'Webhooks', role: 'partner', path: () => 'webhooks', shows: 'Failing since' },
  {
    name: 'webhook',
    title: 'Webhook with its deliveries',
    role: 'partner',
    path: ({ webhookId }) => `webhooks/${webhookId}`,
    shows: 'Failing since',
  },
  { name: 'events', title: 'Events', role: 'partner', path: () => 'events' },
  { name: 'deletions', title: 'Deletions', role: 'partner', path: () => 'deletions' },
  { name: 'limits', title: 'Limits', role: 'partner', path: () => 'limits' },
  { name: 'lanes', title: 'Lanes', role: 'operator', path: () => 'operator/lanes', shows: '3 partners are waiting' },
  { name: 'jobs', title: 'Jobs', role: 'operator', path: () => 'operator/jobs' },
  { name: 'job', title: 'Job', role: 'operator', path: ({ failedJobId }) => `operator/jobs/${failedJobId}` },
  { name: 'partners', title: 'Partners', role: 'operator', path: () => 'operator/partners' },
  { name: 'engine', title: 'Engine', role: 'operator', path: () => 'operator/engine' },
  { name: 'backups', title: 'Backups', role: 'operator', path: () => 'operator/backups' },
  { name: 'alerts', title: 'Alerts', role: 'operator', path: () => 'operator/alerts' },
  { name: 'incidents', title: 'Incidents by symptom', role: 'operator', path: () => 'operator/incidents' },
];

/** Returns the paths of pages in packages/console/src/pages.ts that no screen shows. */
export function pathsWithoutScreen(pagesSource: string): readonly string[] {
  const example = {
    importLogId: 1,
    audienceId: 1,
    otherAudienceId: 2,
    segmentId: 1,
    customerSegmentId: 1,
    failedJobId: 1,
    webhookId: 1,
    subscriptionId: 1,
  };
  const shown = screens.map(({ path }) => `/console/${path(example)}`);
  const paths = [...pagesSource.matchAll(/\bpath: '(\/console\/[^']*)',\n/g)].map(([, path = '']) => path);
  return paths.filter((path) => {
    const pattern = new RegExp(`^${path.replaceAll(/:[a-z_]+/gi, '[^/]+')}$`);
    return !shown.some((one) => pattern.test(one.split('?')[0] ?? ''));
  });
}
