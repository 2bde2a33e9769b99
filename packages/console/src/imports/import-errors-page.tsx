import { useRoute } from 'preact-iso';
import { api, useApi } from '../api.ts';
import { ErrorsPage } from '../components/errors-page.tsx';
import { reasonsOf } from '../components/reasons.ts';

export function ImportErrorsPage() {
  const { params } = useRoute();
  const id = Number(params['id']);
  const { value } = useApi(`import ${id}`, (signal) => api.getImportLog(id, { signal }));
  return (
    <ErrorsPage key={id} job={{ kind: 'import', id }} name={`Import ${id}`} reasons={value ? reasonsOf(value) : []} />
  );
}
