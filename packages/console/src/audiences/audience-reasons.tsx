import type { AudienceDetails } from '@inlet/sdk/browser';
import { api, useApi } from '../api.ts';
import { DownloadErrors } from '../components/errors-page.tsx';
import { ReasonList } from '../components/reason-list.tsx';
import { ProblemNotice } from '../components/state.tsx';
import { reasonsAmong } from './describe-audience.ts';

type Props = { readonly audience: AudienceDetails; readonly version: string };

/** One page of errors. Its reasons are those of the first files, which is enough to see what is wrong. */
const errorsRead = 300;

export function AudienceReasons({ audience: { audience_id: id, file }, version }: Props) {
  const hasErrors = file.some(({ status, rows_rejected }) => status === 3 || rows_rejected > 0);
  const { value, problem } = useApi(
    `audience errors ${id} ${version}`,
    (signal) => api.listAudienceErrors(id, { query: { limit: errorsRead }, signal }),
    { isPaused: !hasErrors },
  );
  if (!hasErrors) return null;
  if (problem) return <ProblemNotice problem={problem} />;
  if (!value || value.length === 0) return null;
  const job = { kind: 'audience', id } as const;
  return (
    <section class="card stack" aria-labelledby="what-failed">
      <div class="row">
        <h2 id="what-failed">What failed and why</h2>
        <div class="row push">
          <a href={`/console/audiences/${id}/errors`}>All rejected rows</a>
          <DownloadErrors job={job} filters={{}} />
        </div>
      </div>
      <ReasonList job={job} reasons={reasonsAmong(value)} version={version} />
    </section>
  );
}
