import { z } from 'zod';

const most = (description: string) => z.int().meta({ description });

/** Decision 32. */
export const limitsSchema = z
  .object({
    requests_per_minute_per_key: most('Requests that the key may make in a minute.'),
    requests_per_minute_per_partner: most('Requests that all keys of the partner together may make in a minute.'),
    open_jobs: most('Unfinished jobs of the partner.'),
    files_per_prefix: most('Files that one job may load.'),
    gzip_file_bytes: most('Size of a gzipped file, as it is stored.'),
    plain_file_bytes: most('Size of a file that is not compressed; also of a gzipped one when it is unpacked.'),
    line_bytes: most('Length of a line of a file; a longer one is a refused row.'),
    body_bytes: most('Size of the body of a request.'),
    header_bytes: most('Size of the headers of a request, its path among them.'),
  })
  .meta({ id: 'Limits' });
