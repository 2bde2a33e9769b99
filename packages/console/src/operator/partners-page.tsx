import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Time } from '../components/state.tsx';
import { formatBytes, formatCount, formatPercent } from '../format.ts';
import { type Partner, operatorApi } from './operator-api.ts';
import './operator.css';
import { Commands, Meter } from './parts.tsx';
import { isUnmeasured, quotasOf } from './partners.ts';

const columns: readonly [Column<Partner>, ...Column<Partner>[]] = [
  {
    name: 'Partner',
    cell: ({ name, suspended_at }) => (
      <>
        <a href={`/console/operator/jobs?partner=${encodeURIComponent(name)}`}>{name}</a>{' '}
        {suspended_at !== null && <span class="status waiting">Suspended</span>}
      </>
    ),
  },
  {
    name: 'Open jobs',
    isNumber: true,
    cell: ({ name, open_jobs }) =>
      open_jobs === 0 ? (
        '0'
      ) : (
        <a href={`/console/operator/jobs?partner=${encodeURIComponent(name)}&status=0,1`}>{formatCount(open_jobs)}</a>
      ),
  },
  { name: 'API keys', cell: ({ api_keys }) => <Keys keys={api_keys} /> },
  {
    name: 'Last active',
    cell: ({ last_active_at }) => (last_active_at === null ? 'Never' : <Time at={last_active_at} />),
  },
  {
    name: 'Stored rows',
    isNumber: true,
    cell: ({ quotas: { stored_rows: rows } }) =>
      isUnmeasured('stored_rows', rows) ? <span class="muted">Not measured yet</span> : formatCount(rows.used),
  },
  { name: 'Most used quota', cell: (partner) => <MostUsed partner={partner} /> },
  { name: 'Commands', cell: ({ name, cli }) => <Commands cli={cli} of={name} /> },
];

export function PartnersPage() {
  return (
    <Page title="Partners" sub="Usage of every partner, in the order in which they were created">
      <PagedTable
        listKey="partners"
        caption="Partners"
        load={(query, signal) => operatorApi.listPartners(query, signal)}
        refreshMs={30_000}
        rowKey={({ partner_id }) => partner_id}
        columns={columns}
        empty={
          <Empty title="No partners">
            <p>
              Create one with <code>inlet partner create</code>.
            </p>
          </Empty>
        }
      />
    </Page>
  );
}

function Keys({ keys: { valid, all } }: { readonly keys: Partner['api_keys'] }) {
  return (
    <span class={valid === 0 ? 'attention' : ''}>
      {formatCount(valid)} valid{all > valid && <span class="muted"> of {formatCount(all)}</span>}
    </span>
  );
}

function MostUsed({ partner }: { readonly partner: Partner }) {
  const quotas = quotasOf(partner);
  const first = quotas.find((quota) => !isUnmeasured(quota.name, quota));
  return (
    <div class="quotas">
      {first && (
        <Meter share={first.share} label={first.title} text={`${first.title}: ${formatPercent(first.share)}`} />
      )}
      <details>
        <summary>
          All quotas<span class="visually-hidden"> of {partner.name}</span>
        </summary>
        <ul>
          {quotas.map(({ name, title, used, limit, measured_at }) => (
            <li key={name} class="small">
              {title}: {isUnmeasured(name, { measured_at }) ? 'not measured yet' : format(name, used)} of{' '}
              {format(name, limit)}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

function format(name: string, value: number): string {
  return name === 'stored_bytes' ? formatBytes(value) : formatCount(value);
}
