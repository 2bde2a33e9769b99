import type { AudienceDetails } from '@inlet/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { api } from '../api.ts';
import { useSettled } from '../components/audience-picker.tsx';
import { LiveHint } from '../components/live-hint.tsx';
import { LoadingPage } from '../components/loading-page.tsx';
import { Page } from '../components/page.tsx';
import { ProgressBlock } from '../components/progress-block.tsx';
import { ProblemNotice, Status, Time } from '../components/state.tsx';
import { hasExpired } from '../expiry.ts';
import { useFollow } from '../components/use-follow.ts';
import { visibleText } from '../components/visible-text.ts';
import { formatCount, formatPercent } from '../format.ts';
import { signedIn } from '../session.ts';
import { AudienceFiles } from './audience-files.tsx';
import { AudienceHistory } from './audience-history.tsx';
import { AudienceReasons } from './audience-reasons.tsx';
import { ClearDialog } from './clear-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { funnelOf, isMatchRounded, sentenceOf, versionOfReasons } from './describe-audience.ts';
import './audiences.css';

/** How often the page checks for appended files after all loads have ended. */
const refreshMs = 30_000;

export function AudiencePage() {
  const { params } = useRoute();
  return <AudienceOf key={params['id']} id={Number(params['id'])} />;
}

function AudienceOf({ id }: { readonly id: number }) {
  const { value, problem, isReconnecting, restart } = useFollow(`audience ${id}`, (signal) =>
    api.followAudience(id, { query: { include_files: 'false' }, signal }),
  );
  const { route } = useLocation();
  const [open, setOpen] = useState<'clear' | 'delete' | 'rename' | null>(null);
  const [version, setVersion] = useState(0);
  const hasEnded = value !== undefined && value.status >= 2;
  useEffect(() => {
    if (!hasEnded) return undefined;
    const timer = setInterval(() => hasExpired.peek() || restart(), refreshMs);
    return () => clearInterval(timer);
  }, [hasEnded]);
  const reasonsVersion = useSettled(value ? versionOfReasons(value) : '');
  const back = <a href="/console/audiences">All audiences</a>;
  if (!value) return <LoadingPage title={`Audience ${id}`} back={back} problem={problem} onRetry={restart} />;
  const reload = (): void => {
    setVersion((last) => last + 1);
    restart();
  };
  return (
    <Page
      title={visibleText(value.name)}
      sub={
        <>
          {back} · Audience {id} · created <Time at={value.created_at} />
        </>
      }
      actions={
        <>
          <LiveHint isReconnecting={isReconnecting} isOpen={!problem && value.status < 2} />
          <Actions audience={value} onOpen={setOpen} />
        </>
      }
    >
      {problem && <ProblemNotice problem={problem} onRetry={restart} />}
      <Funnel audience={value} />
      <AudienceReasons audience={value} version={`${version} ${reasonsVersion}`} />
      <AudienceFiles audience={value} version={version} onChange={reload} />
      <AudienceHistory audience={value} version={version} onChange={reload} />
      {(open === 'clear' || open === 'delete') && (
        <ClearDialog
          audience={value}
          does={open}
          onClose={(isDone) => {
            setOpen(null);
            if (isDone && open === 'delete') route('/console/audiences');
            else if (isDone) reload();
          }}
        />
      )}
      {open === 'rename' && (
        <RenameDialog
          audience={value}
          onClose={(isRenamed) => {
            setOpen(null);
            if (isRenamed) reload();
          }}
        />
      )}
    </Page>
  );
}

type ActionsProps = {
  readonly audience: AudienceDetails;
  readonly onOpen: (dialog: 'clear' | 'delete' | 'rename') => void;
};

function Actions({ audience: { audience_id, default_warehouse_segment_id, total_files }, onOpen }: ActionsProps) {
  const canWrite = signedIn()?.scopes.includes('audience:write') ?? false;
  return (
    <>
      <a class="button" href={`/console/segments/${default_warehouse_segment_id}/composition`}>
        Composition
      </a>
      <a class="button" href={`/console/overlap?audiences=${audience_id}`}>
        Overlap
      </a>
      {canWrite && (
        <a class="button primary" href={`/console/audiences/${audience_id}/append`}>
          Append files
        </a>
      )}
      {canWrite && (
        <button type="button" onClick={() => onOpen('rename')}>
          Rename …
        </button>
      )}
      {canWrite && total_files > 0 && (
        <button type="button" class="danger" onClick={() => onOpen('clear')}>
          Clear …
        </button>
      )}
      {canWrite && (
        <button type="button" class="danger" onClick={() => onOpen('delete')}>
          Delete …
        </button>
      )}
    </>
  );
}

function Funnel({ audience }: { readonly audience: AudienceDetails }) {
  const { status, matched_at, unique_devices, matched_devices } = audience;
  const isEmpty = audience.total_files === 0;
  return (
    <section class="card stack" aria-labelledby="devices">
      <div class="row">
        <h2 id="devices">Devices</h2>
        <span class="push">
          <Status status={status} />
        </span>
      </div>
      <p aria-live="polite">{sentenceOf(audience)}</p>
      {status < 2 && <ProgressBlock job={audience} hasFiles />}
      <table class="funnel">
        <caption class="visually-hidden">Devices from upload to match</caption>
        <tbody>
          {funnelOf(audience).map(({ name, devices, share, note }) => (
            <tr key={name}>
              <th scope="row">
                {name} <span class="muted small">{note}</span>
              </th>
              <td class="number">{formatCount(devices)}</td>
              <td class="mark" aria-hidden="true">
                <svg width="100%" height="14" role="presentation">
                  <rect class="track" width="100%" height="14" rx="3" />
                  <rect class="share" width={`${share * 100}%`} height="14" rx="3" />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!isEmpty && (
        <p class="small muted">
          {unique_devices > 0 && `Match rate ${formatPercent(matched_devices / unique_devices)}. `}
          {matched_at === null ? (
            'Matches are counted when the first file is loaded.'
          ) : (
            <>
              Matches were counted <Time at={matched_at} />. They are counted again after an import adds devices.
            </>
          )}
          {isMatchRounded(audience) && ' Below 1,000 devices, matches are rounded down.'}
        </p>
      )}
    </section>
  );
}
