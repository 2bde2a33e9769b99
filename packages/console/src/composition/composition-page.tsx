import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { api, useApi } from '../api.ts';
import { useSettled } from '../components/audience-picker.tsx';
import { LimitNotice } from '../components/limit-notice.tsx';
import { Page } from '../components/page.tsx';
import { Notice, ProblemNotice, Time } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import './composition.css';
import { Controls } from './controls.tsx';
import { countryName, isolate } from './entry-labels.ts';
import { exportCsv } from './export-csv.ts';
import { Freshness } from './freshness.tsx';
import { Funnel } from './funnel.tsx';
import { Headline } from './headline-text.tsx';
import { ReportCard } from './report-card.tsx';
import { SideNotes } from './side-notes.tsx';
import { useHighlights } from './use-highlights.ts';
import { type ReportQuery, useReport } from './use-report.ts';
import { type View, readView, viewQuery } from './view.ts';

/** How often the page checks whether the audience is loaded. */
const loadingRefreshMs = 5_000;

export function CompositionPage() {
  const id = Number(useRoute().params['id']);
  return <Report key={id} segmentId={id} />;
}

function Report({ segmentId }: { readonly segmentId: number }) {
  const { path, query: address, route } = useLocation();
  const isLink = signedIn()?.role === 'link';
  const given = readView(address);
  const view = isLink ? { ...given, audienceId: null } : given;
  const [name, setName] = useState('');
  const [exportProblem, setExportProblem] = useState<string | null>(null);
  const settledName = useSettled(name.trim());

  const { audienceId: otherId } = view;
  const other = useApi(
    `audience ${otherId ?? 0}`,
    (signal) => api.getAudience(otherId ?? 0, { query: { include_files: 'false' }, signal }),
    {
      isPaused: otherId === null,
    },
  );
  const query = queryOf(view, settledName, other.value?.default_warehouse_segment_id);
  const loaded = useReport(segmentId, query);
  const { report, problem } = loaded;
  const highlights = useHighlights(segmentId, query, loaded.isLoading || !report ? undefined : report);
  const audienceId = loaded.audienceId ?? signedIn()?.audience_id ?? undefined;
  const audience = useApi(
    `audience ${audienceId ?? 0}`,
    (signal) => api.getAudience(audienceId ?? 0, { query: { include_files: 'false' }, signal }),
    {
      isPaused: audienceId === undefined,
      refreshMs: ({ status }) => (status < 2 ? loadingRefreshMs : undefined),
    },
  );
  const limits = useApi('limits', (signal) => api.getLimits({ signal }), {
    // A new report uses the budget.
    version: report?.computed_at ?? '',
    isPaused: !report && !problem && !loaded.isWaiting,
  });

  const show = (next: View): void => route(`${path}${viewQuery(next)}`, true);
  // A report with another split or baseline may have been counted before.
  const canChoose = report !== null || !problem || problem.code === 'report_limit_reached';
  const baselineName = nameOfBaseline(view, other.value?.name);
  return (
    <Page
      title={audience.value ? `Who is in “${isolate(audience.value.name)}”?` : 'Who is in this audience?'}
      sub={
        report ? (
          <>
            Compared with {baselineName}{' '}
            {!loaded.isLoading && ` (${formatCount(report.baseline?.devices ?? report.warehouse_devices)})`} · counted{' '}
            <Time at={report.computed_at} />
          </>
        ) : (
          'Composition report'
        )
      }
      actions={
        <>
          {!isLink && audienceId !== undefined && (
            <a class="button" href={`/console/audiences/${audienceId}`}>
              Audience
            </a>
          )}
          <button
            type="button"
            disabled={!report || !query}
            onClick={() => query && void exportCsv(segmentId, query).then(setExportProblem)}
          >
            Export CSV
          </button>
          <button type="button" disabled={!report} onClick={() => window.print()}>
            Print
          </button>
        </>
      }
    >
      {exportProblem !== null && <Notice kind="bad">{exportProblem}</Notice>}
      {other.problem && <ProblemNotice problem={other.problem} onRetry={other.reload} />}
      {problem?.code === 'report_limit_reached' ? (
        <LimitNotice problem={problem} />
      ) : (
        problem && <ProblemNotice problem={problem} onRetry={loaded.reload} />
      )}
      {report && (
        <Freshness
          report={report}
          isLoading={audience.value !== undefined && audience.value.status < 2}
          onReload={loaded.reload}
        />
      )}
      {(report || !problem) && (
        <>
          <Headline loaded={highlights} baselineName={baselineName} isWaiting={loaded.isWaiting} />
          <Funnel loaded={audience} />
        </>
      )}
      {canChoose && (
        <div class="report">
          <div class="stack">
            <Controls
              view={view}
              onChange={show}
              name={name}
              onName={setName}
              audienceId={audienceId}
              other={other.value}
              canCompareAudiences={!isLink}
            />
            {(report || !problem) && (
              <ReportCard
                loaded={loaded}
                view={view}
                name={settledName}
                baselineName={baselineName}
                onChange={show}
                onClearName={() => setName('')}
              />
            )}
          </div>
          <SideNotes
            report={report}
            limits={limits}
            overlapUrl={isLink || audienceId === undefined ? null : `/console/overlap?audiences=${audienceId}`}
          />
        </div>
      )}
    </Page>
  );
}

/** Null until the segment ID of the other audience is known. */
function queryOf(view: View, name: string, otherSegmentId: number | undefined): ReportQuery | null {
  if (view.audienceId !== null && otherSegmentId === undefined) return null;
  return {
    order: view.order,
    small: view.showsSmall ? 'include' : 'omit',
    ...(view.split && { split: view.split }),
    ...(name !== '' && { name }),
    ...(otherSegmentId !== undefined && view.audienceId !== null && { baseline_segment_id: otherSegmentId }),
    ...(view.country !== null && { baseline_country: view.country }),
  };
}

function nameOfBaseline(view: View, otherName: string | undefined): string {
  if (view.audienceId !== null)
    return otherName === undefined ? 'another audience' : `devices in “${isolate(otherName)}”`;
  return view.country === null ? 'all known devices' : `known devices in ${countryName(view.country)}`;
}
