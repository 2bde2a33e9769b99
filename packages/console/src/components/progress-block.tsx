import type { Progress } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { formatBytes, formatCount, formatDuration } from '../format.ts';
import { Fact } from './page.tsx';
import { Bar } from './state.tsx';

type Props = {
  readonly job: { readonly status: 0 | 1 | 2 | 3; readonly progress: Progress };
  /** Whether the job reads files. */
  readonly hasFiles: boolean;
  /** Additional facts. */
  readonly children?: ComponentChildren;
};

/** How far a job has progressed, and how much time is left. */
export function ProgressBlock({ job: { status, progress }, hasFiles, children }: Props) {
  return (
    <>
      {status < 2 && <Bar share={progress.percent / 100} label="Progress" />}
      <dl class="facts">
        {status < 2 && (
          <>
            <Fact name="Progress">{`${formatCount(Math.floor(progress.percent))}%`}</Fact>
            <Fact name="Jobs ahead">{formatCount(progress.queue_position)}</Fact>
            <Fact name="Time left">{timeLeft(progress)}</Fact>
          </>
        )}
        {hasFiles && <Fact name="Rows read">{formatCount(progress.rows_read)}</Fact>}
        {hasFiles && <Fact name="Size">{formatBytes(progress.bytes_total)}</Fact>}
        {children}
      </dl>
    </>
  );
}

function timeLeft({ estimated_seconds_left: left }: Progress): string {
  return left === null ? 'Not known yet' : formatDuration(left);
}
