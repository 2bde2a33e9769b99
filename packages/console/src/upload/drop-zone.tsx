import { useRef, useState } from 'preact/hooks';

type Props = { readonly hasFiles: boolean; readonly onFiles: (files: readonly File[]) => void };

/** Accepts files by drag and drop or from the file dialog. */
export function DropZone({ hasFiles, onFiles }: Props) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    <div
      class={`drop-zone${isOver ? ' over' : ''}${hasFiles ? ' compact' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <p>
        {hasFiles ? 'Drop more files here, or ' : 'Drop CSV or TSV files here, plain or gzip, or '}
        <button type="button" onClick={() => input.current?.click()}>
          Choose files
        </button>
      </p>
      <p class="small muted">They are checked in your browser before anything is sent.</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          // Allows the user to choose the same file again after fixing it.
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}
