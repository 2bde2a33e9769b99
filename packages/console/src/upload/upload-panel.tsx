import type { Limits } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { Notice, ProblemNotice, Skeleton } from '../components/state.tsx';
import { api, useApi } from '../api.ts';
import { signedIn } from '../session.ts';
import type { CheckRules } from './check-file.ts';
import { confirmLeaving } from './confirm-leaving.ts';
import { findingsOf, wouldFail } from './describe-upload.ts';
import { DropZone } from './drop-zone.tsx';
import { FileList } from './file-list.tsx';
import { loadKeys } from './known-keys.ts';
import { pathToLoad } from './plan.ts';
import { UploadMemory } from './resume.ts';
import { UnfinishedUploads } from './unfinished-uploads.tsx';
import { UploadJob } from './upload-job.ts';
import './upload.css';

type Uploaded = { readonly path: string; readonly isGzip: boolean };

type Props = {
  readonly kind: 'import' | 'audience';
  readonly keyType: 0 | 1;
  /** Additional fields of the form. */
  readonly children?: ComponentChildren;
  readonly submitText: string;
  /** The reason why the form cannot be sent yet, or null. */
  readonly incomplete: string | null;
  /** Called when all files are uploaded. Returns whether their import was accepted. */
  readonly onUploaded: (uploaded: Uploaded) => Promise<boolean>;
};

/** Chooses files, checks them in the browser, and uploads them. */
export function UploadPanel(props: Props) {
  const { value: limits, problem, reload } = useApi('limits', (signal) => api.getLimits({ signal }));
  if (problem) return <ProblemNotice problem={problem} onRetry={reload} />;
  if (!limits) return <Skeleton lines={5} />;
  return <Panel {...props} limits={limits} />;
}

function Panel({
  kind,
  keyType,
  children,
  submitText,
  incomplete,
  onUploaded,
  limits,
}: Props & { readonly limits: Limits }) {
  const job = useMemo(() => new UploadJob(new UploadMemory(accountOf(kind))), []);
  useEffect(() => () => job.close(), []);
  void job.version.value;
  const [isSubmitting, setSubmitting] = useState(false);
  const rules = useRules(kind, keyType, limits);
  // The rules can arrive while files are being added, which takes several steps.
  const currentRules = useRef(rules);
  currentRules.current = rules;
  const isChecking = job.isChecking || !rules;
  const entries = [...job.entries.values()];
  const { earlier } = job;
  const findings = findingsOf(entries, earlier);

  useEffect(() => {
    if (rules && job.entries.size > 0) void job.check(rules, true);
  }, [rules]);

  useEffect(() => {
    if (!job.isUploading) return undefined;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    const stopAsking = confirmLeaving('Files are being uploaded. Leave this page and interrupt the upload?');
    return () => {
      removeEventListener('beforeunload', warn);
      stopAsking();
    };
  }, [job.isUploading]);

  async function add(files: readonly File[]): Promise<void> {
    await job.add(files);
    if (currentRules.current) await job.check(currentRules.current, false);
  }

  async function submit(): Promise<void> {
    setSubmitting(true);
    const paths = await job.upload();
    if (paths && (await onUploaded({ path: pathToLoad(paths), isGzip: findings.isGzip }))) {
      job.finish();
      return;
    }
    setSubmitting(false);
  }

  const blocked = reasonToWait({
    ...findings,
    isImport: kind === 'import',
    files: entries.length,
    earlierFiles: earlier.length,
    maxFiles: limits.files_per_prefix,
    isChecking,
    isChanging: job.isChanging,
    incomplete,
  });
  return (
    <div class="stack">
      <UnfinishedUploads job={job} />
      {!isSubmitting && <DropZone hasFiles={entries.length > 0} onFiles={(files) => void add(files)} />}
      {entries.length > 0 && <FileList job={job} entries={entries} earlier={earlier} isLocked={isSubmitting} />}
      {entries.length > 0 && !isChecking && (
        <Results
          kind={kind}
          findings={findings}
          isFormOnly={kind === 'import' && rules?.keys === null}
          onRemoveFailing={() => void job.remove(entries.filter(wouldFail).map(({ file }) => file.name))}
        />
      )}
      <fieldset class="fields plain" disabled={isSubmitting}>
        <legend class="visually-hidden">How to load the files</legend>
        {children}
      </fieldset>
      <div class="row">
        {job.isUploading ? (
          <button type="button" onClick={() => job.pause()}>
            Pause the upload
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            disabled={blocked !== null || isSubmitting}
            onClick={() => void submit()}
          >
            {entries.some(({ step }) => step === 'uploaded' || step === 'failed') ? 'Continue' : submitText}
          </button>
        )}
        {job.isChecking && (
          <button type="button" onClick={() => job.skipCheck()}>
            Skip the check
          </button>
        )}
        {blocked !== null && <span class="small muted">{blocked}</span>}
      </div>
    </div>
  );
}

function accountOf(kind: string): string {
  const current = signedIn();
  return [current?.partner ?? '', current?.customer ?? '', kind].join('/');
}

/** Null until the partner's keys are known. Checking without them would report too few rejected rows. */
function useRules(kind: Props['kind'], keyType: 0 | 1, limits: Limits): CheckRules | null {
  const [rules, setRules] = useState<CheckRules | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    setRules(null);
    const isAudience = kind === 'audience';
    const base = {
      isAudience,
      limits: {
        maxLineBytes: limits.line_bytes,
        maxGzipFileBytes: limits.gzip_file_bytes,
        maxPlainFileBytes: limits.plain_file_bytes,
      },
      badRowShare: isAudience ? limits.audience_bad_row_share : 1,
      unhyphenatedIds: limits.unhyphenated_ids,
      keyType,
    };
    const load = async (): Promise<void> => {
      const keys = isAudience ? null : await loadKeys(keyType, stop.signal);
      if (!stop.signal.aborted) setRules({ ...base, keys });
    };
    void load();
    return () => stop.abort();
  }, [kind, keyType, limits]);
  return rules;
}

type Waiting = ReturnType<typeof findingsOf> & {
  readonly isImport: boolean;
  readonly files: number;
  readonly earlierFiles: number;
  readonly maxFiles: number;
  readonly isChecking: boolean;
  readonly isChanging: boolean;
  readonly incomplete: string | null;
};

function reasonToWait(form: Waiting): string | null {
  if (form.files === 0) return 'Choose files first.';
  if (form.files + form.earlierFiles > form.maxFiles)
    return `One job can contain at most ${formatCount(form.maxFiles)} files.`;
  if (form.isChecking) return 'The files are being checked. Nothing has been sent.';
  if (form.isChanging) return 'Removed files are being discarded.';
  if (form.failing > 0) return 'Remove or fix the files that would fail.';
  if (form.isImport && form.isMixed) return 'Remove either the gzip or the plain files.';
  return form.incomplete;
}

type ResultsProps = {
  readonly kind: Props['kind'];
  readonly findings: ReturnType<typeof findingsOf>;
  readonly isFormOnly: boolean;
  readonly onRemoveFailing: () => void;
};

function Results({ kind, findings, isFormOnly, onRemoveFailing }: ResultsProps) {
  const { failing, rejectedRows, validRows, unchecked, isMixed } = findings;
  return (
    <>
      {failing > 0 && (
        <Notice kind="bad">
          <p>
            {formatCount(failing)} {failing === 1 ? 'file' : 'files'} would fail. Nothing has been sent. Fix{' '}
            {failing === 1 ? 'it' : 'them'} and choose {failing === 1 ? 'it' : 'them'} again.
          </p>
          <button type="button" onClick={onRemoveFailing}>
            Remove {failing === 1 ? 'it' : 'them'}
          </button>
        </Notice>
      )}
      {kind === 'import' && isMixed && (
        <Notice kind="bad">One import can contain either gzip or plain files. Import the others separately.</Notice>
      )}
      {failing === 0 && rejectedRows > 0 && (
        <Notice kind="warn">
          {formatCount(rejectedRows)} {rejectedRows === 1 ? 'row' : 'rows'} would be rejected and{' '}
          {formatCount(validRows)} loaded. You can fix the {rejectedRows === 1 ? 'row' : 'rows'} first.
        </Notice>
      )}
      {failing === 0 && rejectedRows === 0 && unchecked === 0 && (
        <Notice kind="good">
          All {formatCount(validRows)} rows are valid.
          {isFormOnly && ' Only the format of the keys was checked.'}
        </Notice>
      )}
      {unchecked > 0 && <Notice>The check was skipped. The service checks every row when it loads the files.</Notice>}
    </>
  );
}
