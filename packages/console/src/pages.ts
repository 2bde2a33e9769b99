import { PageNotLoaded } from './components/page-not-loaded.tsx';
import { type Role } from './session.ts';
import { lazy } from 'preact-iso';
import type { AnyComponent } from 'preact';

// Every page after sign-in, each loaded when it is first opened.

export type PageRoute = {
  readonly path: string;
  readonly roles: readonly Role[];
  readonly component: AnyComponent & { readonly preload: () => Promise<unknown> };
};

/** The script of a page may be missing, for example because a new release has replaced it. */
function page(load: () => Promise<AnyComponent>): PageRoute['component'] {
  return lazy(() => load().catch(() => PageNotLoaded));
}

export const pages: readonly PageRoute[] = [
  {
    path: '/console/imports',
    roles: ['partner'],
    component: page(async () => (await import('./imports/imports-page.tsx')).ImportsPage),
  },
  {
    path: '/console/imports/new',
    roles: ['partner'],
    component: page(async () => (await import('./imports/new-import-page.tsx')).NewImportPage),
  },
  {
    path: '/console/imports/:id',
    roles: ['partner'],
    component: page(async () => (await import('./imports/import-page.tsx')).ImportPage),
  },
  {
    path: '/console/imports/:id/errors',
    roles: ['partner'],
    component: page(async () => (await import('./imports/import-errors-page.tsx')).ImportErrorsPage),
  },
  {
    path: '/console/audiences',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./audiences/audiences-page.tsx')).AudiencesPage),
  },
  {
    path: '/console/audiences/new',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./audiences/new-audience-page.tsx')).NewAudiencePage),
  },
  {
    path: '/console/audiences/:id',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./audiences/audience-page.tsx')).AudiencePage),
  },
  {
    path: '/console/audiences/:id/append',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./audiences/append-page.tsx')).AppendPage),
  },
  {
    path: '/console/audiences/:id/errors',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./audiences/audience-errors-page.tsx')).AudienceErrorsPage),
  },
  {
    path: '/console/attributes',
    roles: ['partner'],
    component: page(async () => (await import('./account/attributes-page.tsx')).AttributesPage),
  },
  {
    path: '/console/keys',
    roles: ['partner'],
    component: page(async () => (await import('./access/keys-page.tsx')).KeysPage),
  },
  {
    path: '/console/customers',
    roles: ['partner'],
    component: page(async () => (await import('./access/customers-page.tsx')).CustomersPage),
  },
  {
    path: '/console/subscriptions',
    roles: ['partner'],
    component: page(async () => (await import('./subscriptions/subscriptions-page.tsx')).SubscriptionsPage),
  },
  {
    path: '/console/subscriptions/:id',
    roles: ['partner'],
    component: page(async () => (await import('./subscriptions/subscription-page.tsx')).SubscriptionPage),
  },
  {
    path: '/console/webhooks',
    roles: ['partner'],
    component: page(async () => (await import('./webhooks/webhooks-page.tsx')).WebhooksPage),
  },
  {
    path: '/console/webhooks/:id',
    roles: ['partner'],
    component: page(async () => (await import('./webhooks/webhook-page.tsx')).WebhookPage),
  },
  {
    path: '/console/events',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./webhooks/events-page.tsx')).EventsPage),
  },
  {
    path: '/console/deletions',
    roles: ['partner'],
    component: page(async () => (await import('./privacy/deletions-page.tsx')).DeletionsPage),
  },
  {
    path: '/console/limits',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./account/limits-page.tsx')).LimitsPage),
  },
  {
    path: '/console/segments/:id/composition',
    roles: ['partner', 'customer', 'link'],
    component: page(async () => (await import('./composition/composition-page.tsx')).CompositionPage),
  },
  {
    path: '/console/operator/lanes',
    roles: ['operator'],
    component: page(async () => (await import('./operator/lanes-page.tsx')).LanesPage),
  },
  {
    path: '/console/operator/jobs',
    roles: ['operator'],
    component: page(async () => (await import('./operator/jobs-page.tsx')).JobsPage),
  },
  {
    path: '/console/operator/jobs/:id',
    roles: ['operator'],
    component: page(async () => (await import('./operator/job-page.tsx')).OperatorJobPage),
  },
  {
    path: '/console/operator/partners',
    roles: ['operator'],
    component: page(async () => (await import('./operator/partners-page.tsx')).PartnersPage),
  },
  {
    path: '/console/operator/engine',
    roles: ['operator'],
    component: page(async () => (await import('./operator/engine-page.tsx')).EnginePage),
  },
  {
    path: '/console/operator/backups',
    roles: ['operator'],
    component: page(async () => (await import('./operator/backups-page.tsx')).BackupsPage),
  },
  {
    path: '/console/operator/alerts',
    roles: ['operator'],
    component: page(async () => (await import('./operator/alerts-page.tsx')).AlertsPage),
  },
  {
    path: '/console/operator/incidents',
    roles: ['operator'],
    component: page(async () => (await import('./operator/incidents-page.tsx')).IncidentsPage),
  },
  {
    path: '/console/overlap',
    roles: ['partner', 'customer'],
    component: page(async () => (await import('./overlap/overlap-page.tsx')).OverlapPage),
  },
];

/** The page at a path, regardless of who may open it. */
export function pageAt(path: string): PageRoute | undefined {
  return pages.find((of) => new RegExp(`^${of.path.replaceAll(/:\w+/g, '[^/]+')}/?$`).test(path));
}

/** Loads the script of the page that the browser opens while the session is still unknown. */
export function preloadPage(path: string): void {
  void pageAt(path)?.component.preload();
}

/** The entries of the navigation, in order. */
export const navigation: readonly {
  readonly text: string;
  readonly path: string;
  readonly roles: readonly Role[];
  /** The scope without which the page shows nothing. */
  readonly scope?: string;
}[] = [
  { text: 'Imports', path: '/console/imports', roles: ['partner'] },
  { text: 'Subscriptions', path: '/console/subscriptions', roles: ['partner'] },
  { text: 'Audiences', path: '/console/audiences', roles: ['partner', 'customer'] },
  { text: 'Overlap', path: '/console/overlap', roles: ['partner', 'customer'] },
  { text: 'Attributes', path: '/console/attributes', roles: ['partner'] },
  { text: 'Keys', path: '/console/keys', roles: ['partner'], scope: 'keys:read' },
  { text: 'Customers', path: '/console/customers', roles: ['partner'], scope: 'customers:read' },
  { text: 'Webhooks', path: '/console/webhooks', roles: ['partner'], scope: 'webhooks:write' },
  { text: 'Events', path: '/console/events', roles: ['partner', 'customer'] },
  { text: 'Deletions', path: '/console/deletions', roles: ['partner'], scope: 'privacy:write' },
  { text: 'Limits', path: '/console/limits', roles: ['partner', 'customer'] },
  { text: 'Lanes', path: '/console/operator/lanes', roles: ['operator'] },
  { text: 'Jobs', path: '/console/operator/jobs', roles: ['operator'] },
  { text: 'Partners', path: '/console/operator/partners', roles: ['operator'] },
  { text: 'Engine', path: '/console/operator/engine', roles: ['operator'] },
  { text: 'Backups', path: '/console/operator/backups', roles: ['operator'] },
  { text: 'Alerts', path: '/console/operator/alerts', roles: ['operator'] },
  { text: 'Incidents', path: '/console/operator/incidents', roles: ['operator'] },
];
