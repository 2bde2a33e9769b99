import { remedies as remediesOfRequests } from '../generated/remedies.ts';

/** Where the catalogue speaks of a field of the request, and a person at this command line has a flag. */
const remediesOfFlags: Readonly<Record<string, string>> = {
  invalid_request: 'Correct what is named above. `inlet <command> --help` shows how it is given.',
  unauthenticated: 'Run `inlet login` with a key that is valid, or mend INLET_API_KEY.',
  invalid_user_token: 'Set INLET_USER_TOKEN to a valid token, or leave it out for audiences of your own.',
  compressed_required: 'Say --compressed or --no-compressed for a prefix.',
  credentials_required: 'For s3://… give --region and --access-key-id, or --region and --role-arn.',
  invalid_region: 'Give the region of the bucket with --region, for example eu-central-1.',
  invalid_role_arn: 'Give the ARN of the role with --role-arn, for example arn:aws:iam::123456789012:role/inlet.',
  roles_not_available: 'Give --access-key-id in place of --role-arn, or ask the operator for roles.',
  unknown_keys: '`inlet attributes` shows your attributes and their keys; --key-type says which of them you mean.',
  invalid_file_path:
    'Give a path below your prefix without `..` and a leading `/`, or s3://<bucket>/<path> for a bucket of your own.',
  compression_mismatch: 'Import with --compressed or --no-compressed as the file is, or upload the file as announced.',
  no_good_row:
    'See the rows with `inlet errors`, correct the file, upload it and import it again. `inlet check` judges it before.',
  bad_rows: 'See the rows with `inlet errors --audience`, correct the file, upload it and append it again.',
  unknown_code: 'This service is newer than your `inlet`: the detail says what is wrong. Update `inlet` to see more.',
};

/** What a person does about a code of an answer or of a job. What went wrong on the way: failure-of-the-way.ts. */
export function remedyOf(code: string): string {
  for (const table of [remediesOfFlags, remediesOfRequests]) if (Object.hasOwn(table, code)) return table[code] ?? '';
  return '';
}
