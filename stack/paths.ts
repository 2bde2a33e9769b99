import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { directoryOverride } from './environment.ts';

export const cloneDirectory = realpathSync(join(import.meta.dirname, '..'));

const cloneHash = createHash('sha256').update(cloneDirectory).digest('hex').slice(0, 8);

// The path is short, because a Unix socket path can have at most 107 bytes. It is outside the clone, because the user
// postgres might not have access to the clone.
export const stackDirectory =
  directoryOverride === undefined || directoryOverride === ''
    ? `/var/tmp/inlet-stack-${cloneHash}`
    : resolve(directoryOverride);
