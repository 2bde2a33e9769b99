/* oxlint-disable node/no-process-env -- the one place where the stack reads its environment */

/** Where the servers keep their files, instead of the directory derived from the clone's path. */
export const directoryOverride = process.env['INLET_STACK_DIR'];

/** PostgreSQL without fsync: faster, but a crash of the machine may lose or damage the data. */
export const fastButNotDurable = process.env['INLET_STACK_FAST'] === '1';
