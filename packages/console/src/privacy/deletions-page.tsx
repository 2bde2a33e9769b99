import type { Deletion, Problem } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api, noteExpiry } from '../api.ts';
import { type FilterBar, Filterbar, StatusFilter, useFilters } from '../components/filter-bar.tsx';
import '../components/lists.css';
import { addressOf, apiQuery } from '../components/list-filters.ts';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { saveFile } from '../components/save-file.ts';
import { Empty, Notice, ProblemNotice, Status, Time } from '../components/state.tsx';
import { devicesOf, isOpen, noteOf } from './describe-deletion.ts';

const refreshMs = 3_000;

/** The deletions of devices, and their proofs. Programs and the command line request them. */
export function DeletionsPage() {
  const bar = useFilters(['status']);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [hasSaved, setSaved] = useState(false);

  async function download(id: number): Promise<void> {
    const result = await api.getDeletionProof(id);
    setProblem(result.ok ? null : result.problem);
    setSaved(result.ok);
    if (!result.ok) return noteExpiry(result.problem);
    const text = `${JSON.stringify(result.value, null, 2)}\n`;
    saveFile(new Blob([text], { type: 'application/json' }), `deletion-${id}-proof.json`);
  }

  return (
    <Page
      title="Deletions"
      sub="Devices that you have deleted from your attributes, audiences, and rejected rows, with a proof of each deletion."
    >
      <Filterbar bar={bar} label="Filter deletions">
        <StatusFilter bar={bar} />
      </Filterbar>
      {problem && <ProblemNotice problem={problem} />}
      {hasSaved && (
        <Notice>
          The proof was downloaded. Before you pass it on, remove <code>ids_salt</code>. With it, others can check
          whether a certain device was deleted.
        </Notice>
      )}
      <PagedTable
        listKey={addressOf('', bar.filters)}
        caption="Deletions, newest first"
        load={(page, signal) => api.listDeletions({ query: { ...apiQuery(bar.filters), ...page }, signal })}
        rowKey={({ deletion_id }) => deletion_id}
        columns={[...columns, proofColumn((id) => void download(id))]}
        empty={<NoDeletions bar={bar} />}
        refreshMs={(deletions) => (deletions.some(isOpen) ? refreshMs : undefined)}
      />
    </Page>
  );
}

const columns: readonly [Column<Deletion>, ...Column<Deletion>[]] = [
  {
    name: 'Deletion',
    cell: ({ deletion_id, source }) => (
      <>
        #{deletion_id} <span class="muted">{source === 'file' ? 'from a file' : 'from a request'}</span>
      </>
    ),
  },
  {
    name: 'Status',
    cell: (deletion) => (
      <>
        <Status status={deletion.status} />
        <div class="small muted">{noteOf(deletion)}</div>
      </>
    ),
  },
  { name: 'Devices', isNumber: true, cell: devicesOf },
  { name: 'Requested', cell: ({ requested_at }) => <Time at={requested_at} /> },
  { name: 'Finished', cell: ({ finished_at }) => (finished_at === null ? '–' : <Time at={finished_at} />) },
];

function proofColumn(download: (id: number) => void): Column<Deletion> {
  return {
    name: 'Proof',
    cell: ({ deletion_id: id, has_proof, status }) =>
      has_proof ? (
        <button type="button" onClick={() => download(id)}>
          Download<span class="visually-hidden"> the proof of deletion {id}</span>
        </button>
      ) : (
        <span class="muted">{status === 3 ? 'none' : 'not yet'}</span>
      ),
  };
}

function NoDeletions({ bar }: { readonly bar: FilterBar }) {
  if (bar.isFiltered) {
    return (
      <Empty title="No deletion has this status">
        <button type="button" onClick={bar.clear}>
          Clear filters
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No deletions yet">
      <p>
        Request one with <code>inlet deletions request</code> or <code>POST /v1/privacy/deletions</code>.
      </p>
    </Empty>
  );
}
