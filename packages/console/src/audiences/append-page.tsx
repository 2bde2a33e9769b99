import { useLocation, useRoute } from 'preact-iso';
import { api, noteExpiry, useApi } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Page } from '../components/page.tsx';
import { ProblemNotice } from '../components/state.tsx';
import { signedIn } from '../session.ts';
import { AudienceForm } from './audience-form.tsx';
import { CannotWrite } from './cannot-write.tsx';

export function AppendPage() {
  const { params } = useRoute();
  const { route } = useLocation();
  const id = Number(params['id']);
  const page = `/console/audiences/${id}`;
  const { value, problem, reload } = useApi(`audience ${id}`, (signal) =>
    api.getAudience(id, { query: { include_files: 'false' }, signal }),
  );
  if (!signedIn()?.scopes.includes('audience:write')) return <CannotWrite title="Append files" />;
  return (
    <Page
      title="Append files"
      sub={
        <>
          to <a href={page}>{value ? <GivenText text={value.name} /> : `Audience ${id}`}</a>
        </>
      }
    >
      {problem ? (
        <ProblemNotice problem={problem} onRetry={reload} />
      ) : (
        <AudienceForm
          key={id}
          path={`${page}/append`}
          uploadText="Upload and append"
          pathText="Append"
          incomplete={null}
          onPath={async (path) => {
            const result = await api.appendFiles(id, { file_path: path });
            if (!result.ok) {
              noteExpiry(result.problem);
              return result.problem;
            }
            route(page);
            return null;
          }}
        />
      )}
    </Page>
  );
}
