import type { LoadError } from '@inlet/sdk/browser';
import { formatCount } from '../format.ts';
import { GivenText } from './given-text.tsx';
import type { Column } from './paged-table.tsx';
import './lists.css';

/** The columns of rejected rows and failed files. `onFile` restricts the list to the file of a row. */
export function errorColumns(
  onFile: ((file: string) => void) | null,
): readonly [Column<LoadError>, ...Column<LoadError>[]] {
  return [
    {
      name: 'File',
      cell: ({ file }) => {
        if (file === null) return <span class="muted">The whole job</span>;
        if (!onFile) return <GivenText text={file} />;
        return (
          <button type="button" class="plain" onClick={() => onFile(file)} title="Show only the rows of this file">
            <GivenText text={file} />
          </button>
        );
      },
    },
    { name: 'Line', isNumber: true, cell: ({ row }) => (row === null ? '–' : formatCount(row)) },
    {
      name: 'Column',
      cell: ({ row, column }) => (row === null ? '–' : (column ?? <span class="muted">whole line</span>)),
    },
    {
      name: 'Reason',
      cell: ({ code, message }) => (
        <div>
          <code>{code}</code>
          <span class="reason-text small muted">{message}</span>
        </div>
      ),
    },
    { name: 'Text', cell: ({ text }) => (text === null ? '–' : <RowText text={text} />) },
  ];
}

/** The API has already escaped unprintable bytes in the row. */
export function RowText({ text }: { readonly text: string }) {
  return text === '' ? <span class="muted">(empty)</span> : <bdi class="row-text">{text}</bdi>;
}

export function keyOfError({ file, row, code }: LoadError): string {
  return `${file ?? ''}\n${row ?? ''}\n${code}`;
}
