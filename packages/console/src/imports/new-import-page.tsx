import type { Problem, QueueImport } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, noteExpiry } from '../api.ts';
import { Page } from '../components/page.tsx';
import { Empty, ProblemNotice } from '../components/state.tsx';
import { signedIn } from '../session.ts';
import { Choices } from '../upload/choices.tsx';
import { PathForm, Ways } from '../upload/path-form.tsx';
import { UploadPanel } from '../upload/upload-panel.tsx';

const keyTypes = [
  ['1', 'Your foreign keys'],
  ['0', 'Attribute IDs'],
] as const;
const modes = [
  ['merge', 'Add to the existing data'],
  ['replace', 'Replace the data of every attribute in the files'],
] as const;
const compressions = [
  ['auto', 'By file name (.gz)'],
  ['true', 'gzip'],
  ['false', 'Plain'],
] as const;

type Compression = (typeof compressions)[number][0];

export function NewImportPage() {
  const { query, route } = useLocation();
  const isPath = query['from'] === 'path';
  const [keyType, setKeyType] = useState<'0' | '1'>('1');
  const [mode, setMode] = useState<'merge' | 'replace'>('merge');
  const [compression, setCompression] = useState<Compression>('auto');
  const [problem, setProblem] = useState<Problem | null>(null);

  async function queue(body: Pick<QueueImport, 'file_path' | 'compressed'>): Promise<Problem | null> {
    const result = await api.queueImport({ ...body, key_type: keyType === '1' ? 1 : 0, mode });
    if (!result.ok) {
      noteExpiry(result.problem);
      return result.problem;
    }
    route(`/console/imports/${result.value.import_log_id}`);
    return null;
  }

  if (!signedIn()?.scopes.includes('marketplace:write')) {
    return (
      <Page title="New import">
        <div class="card">
          <Empty title="You cannot start imports">
            <p>Your account can only read imports. Ask your operator for access.</p>
          </Empty>
        </div>
      </Page>
    );
  }
  const fields = (
    <>
      <Choices
        legend="The keys in the files are"
        name="key-type"
        value={keyType}
        choices={keyTypes}
        onChange={setKeyType}
      />
      <Choices
        legend="What to do with existing data"
        name="mode"
        value={mode}
        choices={modes}
        onChange={setMode}
        {...(mode === 'replace'
          ? { hint: 'If one file fails, nothing is replaced. Devices that are not in the files lose these attributes.' }
          : {})}
      />
    </>
  );
  return (
    <Page title="New import" sub={<a href="/console/imports">All imports</a>}>
      <Ways path="/console/imports/new" isPath={isPath} />
      {isPath ? (
        <PathForm
          submitText="Import"
          hint="Relative to your prefix. A path that ends with “/” imports all files in the folder."
          incomplete={null}
          onSubmit={(path) =>
            queue({ file_path: path, ...(compression === 'auto' ? {} : { compressed: compression === 'true' }) })
          }
        >
          {fields}
          <Choices
            legend="The files are"
            name="compressed"
            value={compression}
            choices={compressions}
            hint="For a folder, choose gzip or plain, because its name does not show the compression."
            onChange={setCompression}
          />
        </PathForm>
      ) : (
        <>
          {problem && <ProblemNotice problem={problem} />}
          <UploadPanel
            kind="import"
            keyType={keyType === '1' ? 1 : 0}
            submitText="Upload and import"
            incomplete={null}
            onUploaded={async ({ path, isGzip }) => {
              const refused = await queue({ file_path: path, compressed: isGzip });
              setProblem(refused);
              return refused === null;
            }}
          >
            {fields}
          </UploadPanel>
        </>
      )}
    </Page>
  );
}
