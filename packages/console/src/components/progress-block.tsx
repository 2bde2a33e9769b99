import type { Progress } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { formatBytes, formatCount, formatDuration } from '../format.ts';
import { Bar } from './state.tsx';

type Props = {
  readonly job: { readonly status: 0 | 1 | 2 | 3; readonly progress: Progress };
  /** Whether the job reads files. */
  readonly hasFiles: boolean;
  /** Further facts. */
  readonly children?: ComponentChildren;
};

/** How far a job is, and when it ends. */
export function ProgressBlock({ job: { status, progress }, hasFiles, children }: Props) {
  return (
    <>
      {status < 2 && <Bar share={progress.percent / 100} label="Progress" />}
      <dl class="facts">
        {status < 2 && (
          <>
            <Fact name="Progress" text={`${formatCount(Math.floor(progress.percent))}%`} />
            <Fact name="Jobs ahead" text={formatCount(progress.queue_position)} />
            <Fact name="Time left" text={timeLeft(progress)} />
          </>
        )}
        {hasFiles && <Fact name="Rows read" text={formatCount(progress.rows_read)} />}
        {hasFiles && <Fact name="Size" text={formatBytes(progress.bytes_total)} />}
        {children}
      </dl>
    </>
  );
}

function timeLeft({ estimated_seconds_left: left }: Progress): string {
  return left === null ? 'Not known yet' : formatDuration(left);
}

export function Fact({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}
