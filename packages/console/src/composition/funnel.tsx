import type { AudienceDetails } from '@inlet/sdk/browser';
import type { Loaded } from '../api.ts';
import { Bar, PartProblem, Skeleton } from '../components/state.tsx';
import { formatCount, formatPercent } from '../format.ts';

/** Shows the steps from the upload to the devices that the report describes. */
export function Funnel({ loaded: { value: audience, problem, reload } }: { readonly loaded: Loaded<AudienceDetails> }) {
  if (!audience && problem) return <PartProblem what="The audience" problem={problem} onRetry={reload} />;
  if (!audience) {
    return (
      <div class="report-funnel">
        {[0, 1, 2].map((step) => (
          <div key={step} class="card">
            <Skeleton lines={3} height={18} />
          </div>
        ))}
      </div>
    );
  }
  const { uploaded_devices: uploaded, unique_devices: unique, matched_devices: matched } = audience;
  return (
    <ol class="report-funnel" aria-label="From upload to match">
      <Step name="Uploaded" devices={uploaded} of={uploaded} text="in all files" />
      <Step name="Unique" devices={unique} of={uploaded} text="different devices" />
      <Step name="Matched" devices={matched} of={uploaded} text={`known devices${shareText(matched, unique)}`} />
    </ol>
  );
}

/** The API rounds the number of matched devices for small audiences. */
const exactFrom = 1_000;

function shareText(matched: number, unique: number): string {
  if (unique === 0) return '';
  const share = unique < exactFrom ? `about ${Math.round((matched / unique) * 100)}%` : formatPercent(matched / unique);
  return `, ${share} of unique`;
}

type StepProps = {
  readonly name: string;
  readonly devices: number;
  readonly of: number;
  readonly text: string;
};

function Step({ name, devices, of, text }: StepProps) {
  return (
    <li class="card">
      <span class="step-name">{name}</span>
      <span class="step-value">{formatCount(devices)}</span>
      <span class="step-text">{text}</span>
      <Bar share={of === 0 ? 0 : devices / of} label={`${name}, share of uploaded devices`} />
    </li>
  );
}
