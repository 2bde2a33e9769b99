import { isRejectReason, rejectReasons } from '@inlet/row-rule/row-rule';
import { useRoute } from 'preact-iso';
import { api, useApi } from '../api.ts';
import { ErrorsPage } from '../components/errors-page.tsx';
import { reasonsAmong } from './describe-audience.ts';

const errorsRead = 300;

/** The reasons that a row of two columns, ID and event, can have. */
const ofAudiences = Object.entries(rejectReasons)
  .filter(
    ([code]) =>
      !/^(?:invalid_id_type|invalid_country|invalid_operation|empty_keys|unknown_key|retired_key)$/.test(code),
  )
  .map(([code, message]) => ({ code, message }));

export function AudienceErrorsPage() {
  const { params } = useRoute();
  const id = Number(params['id']);
  const { value } = useApi(`audience errors ${id}`, (signal) =>
    api.listAudienceErrors(id, { query: { limit: errorsRead }, signal }),
  );
  const ofFiles = reasonsAmong(value ?? []).filter(({ code }) => !isRejectReason(code));
  return (
    <ErrorsPage
      key={id}
      job={{ kind: 'audience', id }}
      name={`Audience ${id}`}
      reasons={[...ofFiles, ...ofAudiences]}
    />
  );
}
