import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, noteExpiry } from '../api.ts';
import { Page } from '../components/page.tsx';
import { signedIn } from '../session.ts';
import { AudienceForm } from './audience-form.tsx';
import { CannotWrite } from './cannot-write.tsx';

export function NewAudiencePage() {
  const { route } = useLocation();
  const [name, setName] = useState('');
  if (!signedIn()?.scopes.includes('audience:write')) return <CannotWrite title="New audience" />;
  return (
    <Page title="New audience" sub={<a href="/console/audiences">All audiences</a>}>
      <AudienceForm
        path="/console/audiences/new"
        uploadText="Upload and create"
        pathText="Create"
        incomplete={name === '' ? 'Name the audience.' : null}
        onPath={async (path) => {
          const result = await api.createAudience({ name, file_path: path });
          if (!result.ok) {
            noteExpiry(result.problem);
            return result.problem;
          }
          route(`/console/audiences/${result.value.audience_id}`);
          return null;
        }}
      >
        <div class="field">
          <label htmlFor="name">Name</label>
          <input
            id="name"
            required
            maxLength={256}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
      </AudienceForm>
    </Page>
  );
}
