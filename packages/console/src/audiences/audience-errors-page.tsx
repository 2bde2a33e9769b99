import { useRoute } from 'preact-iso';
import { api, useApi } from '../api.ts';
import { ErrorsPage } from '../components/errors-page.tsx';
import { reasonsOf } from '../components/reasons.ts';

export function AudienceErrorsPage() {
  const { params } = useRoute();
  const id = Number(params['id']);
  const { value } = useApi(`audience ${id}`, (signal) =>
    api.getAudience(id, { query: { include_files: 'false' }, signal }),
  );
  return (
    <ErrorsPage
      key={id}
      job={{ kind: 'audience', id }}
      name={`Audience ${id}`}
      reasons={value ? reasonsOf(value) : []}
    />
  );
}
