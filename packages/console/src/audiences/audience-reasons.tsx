import type { AudienceDetails } from '@inlet/sdk/browser';
import { DownloadErrors } from '../components/errors-page.tsx';
import { ReasonList } from '../components/reason-list.tsx';
import { reasonsOf } from '../components/reasons.ts';

type Props = { readonly audience: AudienceDetails; readonly version: string };

export function AudienceReasons({ audience, version }: Props) {
  if (!audience.errors) return null;
  const job = { kind: 'audience', id: audience.audience_id } as const;
  return (
    <section class="card stack" aria-labelledby="what-failed">
      <div class="row">
        <h2 id="what-failed">What failed and why</h2>
        <div class="row push">
          <a href={`/console/audiences/${job.id}/errors`}>All rejected rows</a>
          <DownloadErrors job={job} filters={{}} />
        </div>
      </div>
      <ReasonList job={job} reasons={reasonsOf(audience)} version={version} />
    </section>
  );
}
