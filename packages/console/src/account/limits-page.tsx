import type { Limits } from '@inlet/sdk/browser';
import { api, useApi } from '../api.ts';
import { Fact, Page } from '../components/page.tsx';
import { Bar, ProblemNotice, Skeleton, Time } from '../components/state.tsx';
import { formatBytes, formatCount, formatPercent } from '../format.ts';
import { signedIn } from '../session.ts';
import { type Usage, budgetsOf, quotasOf, stateOf } from './usage.ts';
import './account.css';

export function LimitsPage() {
  const { value, problem, reload } = useApi('limits', (signal) => api.getLimits({ signal }));
  const isCustomer = signedIn()?.role === 'customer';
  return (
    <Page
      title="Limits"
      sub={isCustomer ? 'What you can store and request.' : 'What your account can store, send, and request.'}
    >
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {!value && !problem && (
        <div class="card">
          <Skeleton lines={10} />
        </div>
      )}
      {value && <Content limits={value} isCustomer={isCustomer} />}
    </Page>
  );
}

function Content({ limits, isCustomer }: { readonly limits: Limits; readonly isCustomer: boolean }) {
  return (
    <>
      <UsageTable
        id="budget"
        title="Privacy budget for the last 30 days"
        note="New reports use the budget. Existing reports can be read without limit."
        usages={budgetsOf(limits)}
      />
      {limits.quotas && (
        <UsageTable
          id="quotas"
          title="Quotas"
          note="When a quota is reached, new imports, audiences, and appends are rejected. Deletes and clears are always accepted."
          usages={quotasOf(limits.quotas)}
        />
      )}
      <section class="card stack" aria-labelledby="files">
        <h2 id="files">Files</h2>
        <dl class="facts">
          <Fact name="Size of a gzip file">{formatBytes(limits.gzip_file_bytes)}</Fact>
          <Fact name="Size of a plain file">{formatBytes(limits.plain_file_bytes)}</Fact>
          <Fact name="Length of a line">{formatBytes(limits.line_bytes)}</Fact>
          <Fact name="Files in one job">{formatCount(limits.files_per_prefix)}</Fact>
          <Fact name="Rejected rows in an audience file">
            {limits.audience_bad_row_share === 0 ? 'None' : `Up to ${formatPercent(limits.audience_bad_row_share)}`}
          </Fact>
          <Fact name="IDs without hyphens">{limits.unhyphenated_ids ? 'Accepted' : 'Rejected as hashes'}</Fact>
          {!isCustomer && (
            <Fact name="Device attributes">
              {limits.device_days === undefined
                ? 'Kept until deleted'
                : `Kept for ${formatCount(limits.device_days)} days`}
            </Fact>
          )}
          {!isCustomer && <Fact name="Keys in one delete">{formatCount(limits.keys_per_delete)}</Fact>}
        </dl>
      </section>
      {!isCustomer && (
        <section class="card stack" aria-labelledby="requests">
          <h2 id="requests">Requests and jobs</h2>
          <dl class="facts">
            <Fact name="Requests per minute per key">{formatCount(limits.requests_per_minute_per_key)}</Fact>
            <Fact name="Requests per minute for all keys">{formatCount(limits.requests_per_minute_per_partner)}</Fact>
            <Fact name="Unfinished jobs">{formatCount(limits.open_jobs)}</Fact>
            <Fact name="Unfinished uploads">{formatCount(limits.open_uploads)}</Fact>
            <Fact name="Unfinished exports of rejected rows">{formatCount(limits.open_exports)}</Fact>
            <Fact name="Streams and waiting requests">{formatCount(limits.waiting_requests)}</Fact>
            <Fact name="Request body">{formatBytes(limits.body_bytes)}</Fact>
            <Fact name="Request headers">{formatBytes(limits.header_bytes)}</Fact>
          </dl>
        </section>
      )}
    </>
  );
}

type TableProps = {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly usages: readonly Usage[];
};

function UsageTable({ id, title, note, usages }: TableProps) {
  return (
    <section class="card stack" aria-labelledby={id}>
      <div>
        <h2 id={id}>{title}</h2>
        <p class="small muted">{note}</p>
      </div>
      <table class="blocks usage">
        <caption class="visually-hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col" class="number">
              Used
            </th>
            <th scope="col" class="number">
              Limit
            </th>
            <th scope="col">Share</th>
            <th scope="col">Measured</th>
          </tr>
        </thead>
        <tbody>
          {usages.map((usage) => (
            <UsageRow key={usage.name} usage={usage} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function UsageRow({ usage }: { readonly usage: Usage }) {
  const { name, used, limit, isBytes, measuredAt } = usage;
  const format = isBytes ? formatBytes : formatCount;
  const state = stateOf(usage);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number" data-label="Used">
        {used === null ? '–' : format(used)}
      </td>
      <td class="number" data-label="Limit">
        {limit === 0 ? 'No limit' : format(limit)}
      </td>
      <td data-label="Share">
        {limit === 0 || used === null ? (
          '–'
        ) : (
          <div class={`share ${state}`}>
            <Bar share={used / limit} label={`${name}: share of the limit`} />
            <span class="number">{formatPercent(used / limit)}</span>
            {state !== 'fine' && <strong class="small">{state === 'full' ? 'Reached' : 'Nearly reached'}</strong>}
          </div>
        )}
      </td>
      <td class="small muted" data-label="Measured">
        {measuredAt === undefined ? 'now' : measuredAt === null ? 'not yet' : <Time at={measuredAt} />}
      </td>
    </tr>
  );
}
