import type { Problem } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { ProblemNotice } from '../components/state.tsx';
import { PathForm, Ways } from '../upload/path-form.tsx';
import { UploadPanel } from '../upload/upload-panel.tsx';

type Props = {
  /** The address of the page. */
  readonly path: string;
  readonly uploadText: string;
  readonly pathText: string;
  readonly incomplete: string | null;
  readonly children?: ComponentChildren;
  /** Loads the files. Returns the problem if they are not accepted. */
  readonly onPath: (path: string) => Promise<Problem | null>;
};

/** The form for the files of an audience, which are on this computer or in the storage. */
export function AudienceForm({ path, uploadText, pathText, incomplete, children, onPath }: Props) {
  const { query } = useLocation();
  const [problem, setProblem] = useState<Problem | null>(null);
  const isPath = query['from'] === 'path';
  return (
    <>
      <Ways path={path} isPath={isPath} />
      {isPath ? (
        <PathForm
          submitText={pathText}
          hint="Relative to your prefix. A path that ends with “/” loads all files in the folder. Files that are already loaded are skipped."
          incomplete={incomplete}
          onSubmit={onPath}
        >
          {children}
        </PathForm>
      ) : (
        <>
          {problem && <ProblemNotice problem={problem} />}
          <UploadPanel
            kind="audience"
            keyType={1}
            submitText={uploadText}
            incomplete={incomplete}
            onUploaded={async (uploaded) => {
              const refused = await onPath(uploaded.path);
              setProblem(refused);
              return refused === null;
            }}
          >
            {children}
          </UploadPanel>
        </>
      )}
    </>
  );
}
