type Props = { readonly label: string; readonly value: string; readonly onChange: (value: string) => void };

/** Chooses the status of files. It is not in the address, because it affects only part of the page. */
export function StatusChoice({ label, value, onChange }: Props) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">All files</option>
      <option value="0,1">Open</option>
      <option value="2">Done</option>
      <option value="3">Failed</option>
    </select>
  );
}
