import { fileFaults, type FileFaultCode } from '@inlet/row-rule/file-faults';

/** Where the catalogue speaks of a record or of a request: here the reasons are on the screen, and there are flags. */
const remediesHere: Partial<Record<FileFaultCode, string>> = {
  empty_file: 'See how the file was made: it has no row.',
  no_good_row: 'The reasons are told below: correct the file.',
  bad_rows: 'The reasons are told below: correct the file. An audience takes a file whole or not at all.',
  compression_mismatch: 'Say --compressed or --no-compressed as the file is, or let .gz at the end of its name tell.',
};

/** What a person at this command line does about a file that would fail. */
export function remedyOfFault(code: FileFaultCode | 'unreadable_file'): string {
  if (code === 'unreadable_file') return 'See that it is there and who may read it with: ls -l';
  return remediesHere[code] ?? fileFaults[code].remedy;
}
