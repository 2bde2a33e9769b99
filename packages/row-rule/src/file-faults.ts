/** Why a file fails as a whole, as far as its own bytes are the reason. Part of the service's failure catalogue. */
export const fileFaults = {
  file_too_large: {
    title: 'The file is too large',
    cause: 'The object is larger than the limit for gzipped or plain files.',
    remedy: 'Split the file and import the parts with a prefix.',
    fault: 'partner',
    isRetryable: false,
  },
  empty_file: {
    title: 'The file is empty',
    cause: 'The file has no data row (nothing at all, only blank lines, or only a header).',
    remedy: 'Upload the file with its rows and import it again.',
    fault: 'partner',
    isRetryable: false,
  },
  no_good_row: {
    title: 'The file has no good row',
    cause: 'Every row of the file was rejected.',
    remedy: 'Look at the reasons in `errors`, correct the file, upload it and import it again.',
    fault: 'partner',
    isRetryable: false,
  },
  bad_rows: {
    title: 'The file has bad rows',
    cause:
      'More rows of the file were rejected than an audience file may have. Unless it was agreed otherwise that is one: a file is loaded whole or not at all.',
    remedy: 'Look at the reasons in `GET …/errors`, correct the file, upload it and append it again.',
    fault: 'partner',
    isRetryable: false,
  },
  compression_mismatch: {
    title: 'The file is not compressed as announced',
    cause: '`compressed` (or the extension `.gz`) and the first bytes of the file disagree.',
    remedy: 'Send the `compressed` value that fits the file, or upload the file as announced.',
    fault: 'partner',
    isRetryable: false,
  },
  corrupt_gzip: {
    title: 'The gzip data is damaged',
    cause: 'The file begins like gzip but cannot be unpacked to its end.',
    remedy: 'Compress and upload the file again, and compare checksums.',
    fault: 'partner',
    isRetryable: false,
  },
  wrong_encoding: {
    title: 'The file is not UTF-8',
    cause: 'The file begins with the byte-order mark of UTF-16.',
    remedy: 'Save or convert the file as UTF-8 and upload it again.',
    fault: 'partner',
    isRetryable: false,
  },
  wrong_shape: {
    title: 'The file does not have the shape that it should have',
    cause: 'No line at the beginning of the file has the right number of columns, separated by commas or tabs.',
    remedy:
      'Upload rows of `id,keys` or `id,id_type,country,operation,keys` for an import, of `id,event` for an audience.',
    fault: 'partner',
    isRetryable: false,
  },
  line_out_of_bounds: {
    title: 'A line is too long to be read at all',
    cause:
      'The file holds a line of hundreds of megabytes: it is not a text file with one row per line, or a damaged one.',
    remedy: 'Check how the file was made: each row must end with a newline.',
    fault: 'partner',
    isRetryable: false,
  },
  unpacked_too_large: {
    title: 'The file is too large when unpacked',
    cause: 'The gzipped file unpacks to more bytes than a file may have.',
    remedy: 'Split the file and import the parts with a prefix.',
    fault: 'partner',
    isRetryable: false,
  },
} as const;

export type FileFaultCode = keyof typeof fileFaults;

/** What is wrong with one file; cause and remedy stand above. */
export type FileFault = { readonly code: FileFaultCode; readonly detail: string };
