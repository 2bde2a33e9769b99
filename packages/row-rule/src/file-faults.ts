/** Faults in the content of a file that make the whole file fail. They are part of the service's failure catalog. */
export const fileFaults = {
  file_too_large: {
    title: 'The file is too large',
    cause: 'The object exceeds the size limit for gzip or plain files.',
    remedy: 'Split the file and import the parts under one prefix.',
    fault: 'partner',
    isRetryable: false,
  },
  empty_file: {
    title: 'The file is empty',
    cause: 'The file has no data rows. It is empty, or it contains only blank lines or only a header.',
    remedy: 'Upload a file that contains rows and import it again.',
    fault: 'partner',
    isRetryable: false,
  },
  no_good_row: {
    title: 'The file has no valid rows',
    cause: 'Every row in the file was rejected.',
    remedy: 'Read the reasons in `errors`, correct the file, upload it, and import it again.',
    fault: 'partner',
    isRetryable: false,
  },
  bad_rows: {
    title: 'The file has rejected rows',
    cause:
      'More rows were rejected than your account allows for an audience file. The default limit is 0, so one rejected row makes the file fail.',
    remedy: 'Read the reasons in `GET …/errors`, correct the file, upload it, and append it again.',
    fault: 'partner',
    isRetryable: false,
  },
  compression_mismatch: {
    title: 'The compression does not match',
    cause: '`compressed` (or the `.gz` extension) does not match the first bytes of the file.',
    remedy: 'Send the `compressed` value that matches the file, or upload the file in the declared format.',
    fault: 'partner',
    isRetryable: false,
  },
  corrupt_gzip: {
    title: 'The gzip data is corrupt',
    cause: 'The file starts with a gzip header but cannot be decompressed completely.',
    remedy: 'Compress the file again, upload it, and compare checksums.',
    fault: 'partner',
    isRetryable: false,
  },
  wrong_encoding: {
    title: 'The file is not UTF-8',
    cause: 'The file starts with a UTF-16 byte-order mark.',
    remedy: 'Convert the file to UTF-8 and upload it again.',
    fault: 'partner',
    isRetryable: false,
  },
  wrong_shape: {
    title: 'The file has the wrong columns',
    cause: 'None of the first lines has the expected number of columns, separated by commas or tabs.',
    remedy:
      'Upload rows of `id,keys` or `id,id_type,country,operation,keys` for an import, or `id,event` for an audience.',
    fault: 'partner',
    isRetryable: false,
  },
  line_out_of_bounds: {
    title: 'A line is too long to read',
    cause:
      'The file has a line of hundreds of megabytes. The file is not a text file with one row per line, or it is corrupt.',
    remedy: 'Check the program that creates the file. Each row must end with a newline.',
    fault: 'partner',
    isRetryable: false,
  },
  unpacked_too_large: {
    title: 'The decompressed file is too large',
    cause: 'The gzip file decompresses to more bytes than the limit for plain files.',
    remedy: 'Split the file and import the parts under one prefix.',
    fault: 'partner',
    isRetryable: false,
  },
} as const;

export type FileFaultCode = keyof typeof fileFaults;

/** The fault of one file. The catalog above contains the cause and the remedy. */
export type FileFault = { readonly code: FileFaultCode; readonly detail: string };
