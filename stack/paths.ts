import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { directoryOverride } from './environment.ts';

export const cloneDirectory = realpathSync(join(import.meta.dirname, '..'));

const cloneHash = createHash('sha256').update(cloneDirectory).digest('hex').slice(0, 8);

// Short, because the path of a unix socket has at most 107 bytes; and not below the clone, because user postgres may not
// be allowed to go there.
export const stackDirectory =
  directoryOverride === undefined || directoryOverride === ''
    ? `/var/tmp/inlet-stack-${cloneHash}`
    : resolve(directoryOverride);
