/* oxlint-disable node/no-process-env -- the only file of the stack that reads the environment */

/** The data directory. By default, it is derived from the clone's path. */
export const directoryOverride = process.env['INLET_STACK_DIR'];

/** Runs PostgreSQL without fsync. This is faster, but a machine crash can lose or corrupt data. */
export const isFastButNotDurable = process.env['INLET_STACK_FAST'] === '1';
