import { useRoute } from 'preact-iso';
import { api, useApi } from '../api.ts';
import { AllRejects } from '../components/all-rejects.tsx';
import { ErrorsPage } from '../components/errors-page.tsx';
import type { RejectsExport } from '../components/follow-rejects.ts';
import { reasonsOf } from '../components/reasons.ts';
import { signedIn } from '../session.ts';

export function AudienceErrorsPage() {
  const { params, query } = useRoute();
  const id = Number(params['id']);
  // The list of files links to the rejected rows of one of its entries.
  const { entry = '' } = query;
  const canExport = signedIn()?.scopes.includes('audience:write') ?? false;
  const { value } = useApi(`audience ${id}`, (signal) =>
    api.getAudience(id, { query: { include_files: 'false' }, signal }),
  );
  return (
    <ErrorsPage key={id} job={{ kind: 'audience', id }} name={`Audience ${id}`} reasons={value ? reasonsOf(value) : []}>
      {canExport && entry !== '' && <AllRejects key={entry} of={rejectsOf(id, entry)} />}
      {canExport && entry === '' && value?.errors && (
        <p class="small muted">
          To export all rejected rows of a file, click their number in the{' '}
          <a href={`/console/audiences/${id}`}>list of files</a>.
        </p>
      )}
    </ErrorsPage>
  );
}

function rejectsOf(id: number, entry: string): RejectsExport {
  return {
    needsCredentials: false,
    request: () => api.requestAudienceRejects(id, entry),
    get: (options) => api.getAudienceRejects(id, entry, options),
    listFiles: async (options) => {
      const result = await api.getAudienceRejects(id, entry, options);
      if (!result.ok) return result;
      const { file } = result.value;
      return { ...result, value: file ? [file] : [] };
    },
  };
}
