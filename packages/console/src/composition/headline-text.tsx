import type { CompositionEntry } from '@inlet/sdk/browser';
import type { Loaded } from '../api.ts';
import { PartProblem, Skeleton } from '../components/state.tsx';
import { entryLabel } from './entry-labels.ts';
import { headlineOf } from './headline.ts';
import type { Highlights } from './use-highlights.ts';

type Props = {
  readonly loaded: Pick<Loaded<Highlights>, 'value' | 'problem' | 'reload'>;
  readonly baselineName: string;
  readonly isWaiting: boolean;
};

export function Headline({ loaded: { value: highlights, problem, reload }, baselineName, isWaiting }: Props) {
  if (isWaiting) {
    return (
      <p class="headline" aria-live="polite">
        The report is being counted. After a load, this takes a few seconds. The report then opens here automatically.
      </p>
    );
  }
  if (!highlights && problem) return <PartProblem what="The summary" problem={problem} onRetry={reload} />;
  if (!highlights) {
    return (
      <div class="headline">
        <Skeleton height={26} />
      </div>
    );
  }
  const { report, entries } = highlights;
  const labelOf = (entry: CompositionEntry): string => entryLabel(entry, report.split, entries);
  return (
    <p class="headline">
      {headlineOf({ report, entries, baselineName, labelOf }).map(({ text, tone }) =>
        tone ? (
          <strong key={text} class={tone}>
            {text}
          </strong>
        ) : (
          text
        ),
      )}
    </p>
  );
}
