import type { Problem } from '@inlet/sdk/browser';
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { formatExactTime, formatRelativeTime } from '../format.ts';
import { once } from '../once.ts';

const statusNames = [
  { text: 'Queued', kind: 'waiting' },
  { text: 'Running', kind: 'running' },
  { text: 'Done', kind: 'done' },
  { text: 'Failed', kind: 'failed' },
] as const;

export function Status({ status }: { readonly status: 0 | 1 | 2 | 3 }) {
  const { text, kind } = statusNames[status];
  return <span class={`status ${kind}`}>{text}</span>;
}

const minutes = signal(0);

/** Starts the clock for all relative times when the first one is shown. */
const clock = once(() => ({ timer: setInterval(() => (minutes.value += 1), 60_000) }));

/** `3 minutes ago`, with the exact time on hover. */
export function Time({ at }: { readonly at: string }) {
  clock();
  void minutes.value;
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {formatRelativeTime(at)}
    </time>
  );
}

type EmptyProps = { readonly title: string; readonly children?: ComponentChildren };

/** A note for an empty list that says what to do next. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

type NoticeProps = { readonly kind?: 'bad' | 'warn' | 'good'; readonly children: ComponentChildren };

export function Notice({ kind, children }: NoticeProps) {
  return (
    <div class={`notice ${kind ?? ''}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** Describes what happened, and then what to do. */
export function ProblemNotice({ problem, onRetry }: { readonly problem: Problem; readonly onRetry?: () => void }) {
  return (
    <Notice kind="bad">
      <p>
        <strong>{titleOf(problem)}</strong>
      </p>
      <p>{problem.from === 'sdk' ? 'The API did not respond. Check your connection.' : problem.detail}</p>
      {problem.from === 'api' &&
        problem.errors
          .filter(({ detail }) => detail !== problem.detail)
          .map((error) => <p key={error.pointer}>{error.detail}</p>)}
      <div class="row">
        {onRetry && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
        {problem.from === 'api' && problem.status >= 500 && (
          <span class="small muted">
            Request ID <code>{problem.request_id}</code>
          </span>
        )}
      </div>
    </Notice>
  );
}

type PartProps = { readonly what: string; readonly problem: Problem; readonly onRetry: () => void };

/** A part of a page could not be loaded. The rest of the page is shown. */
export function PartProblem({ what, problem, onRetry }: PartProps) {
  return (
    <p class="notice bad small" role="alert">
      {what} could not be loaded: {problem.from === 'sdk' ? 'the API did not respond.' : problem.detail}{' '}
      <button type="button" class="plain no-print" onClick={onRetry}>
        Try again<span class="visually-hidden"> to load: {what}</span>
      </button>
    </p>
  );
}

function titleOf(problem: Problem): string {
  if (problem.from === 'sdk') return 'No connection to the API';
  if (problem.status === 404) return 'Not found';
  return problem.status === 403 ? 'You do not have access' : problem.title;
}

/** A placeholder for lines that are loading, so that the page does not move when they arrive. */
export function Skeleton({ lines = 1, height = 20 }: { readonly lines?: number; readonly height?: number }) {
  return (
    <div class="stack" style={{ gap: '12px' }} aria-busy="true">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="skeleton" style={{ height: `${height}px` }} />
      ))}
    </div>
  );
}

export function Bar({ share, label }: { readonly share: number; readonly label: string }) {
  return <progress class="bar" aria-label={label} max={1} value={Math.max(0, Math.min(1, share))} />;
}
