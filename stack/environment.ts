/* oxlint-disable node/no-process-env -- the only file of the stack that reads the environment */

/** Overrides the data directory, which is otherwise derived from the clone's path. */
export const directoryOverride = process.env['INLET_STACK_DIR'];

/** Runs PostgreSQL without fsync, which is faster, but a machine crash may lose or corrupt data. */
export const isFastButNotDurable = process.env['INLET_STACK_FAST'] === '1';
