import type { Problem } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { Page } from './page.tsx';
import { ProblemNotice, Skeleton } from './state.tsx';

type Props = {
  readonly title: string;
  readonly back: ComponentChildren;
  readonly problem: Problem | undefined;
  readonly onRetry: () => void;
};

/** The page for a record that has not been loaded yet or could not be loaded. */
export function LoadingPage({ title, back, problem, onRetry }: Props) {
  return (
    <Page title={title} sub={back}>
      {problem ? (
        <ProblemNotice problem={problem} onRetry={onRetry} />
      ) : (
        <div class="card">
          <Skeleton lines={8} />
        </div>
      )}
    </Page>
  );
}
