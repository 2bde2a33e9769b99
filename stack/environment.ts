/* oxlint-disable node/no-process-env -- the only file of the stack that reads the environment */

/** The data directory. By default, it is derived from the clone's path. */
export const directoryOverride = process.env['INLET_STACK_DIR'];

/** Runs PostgreSQL and ClickHouse without fsync. This is faster, but a machine crash can lose or corrupt data. */
export const isFastButNotDurable = process.env['INLET_STACK_FAST'] === '1';

/**
 * The environment of a ClickHouse server. The library makes fsync return immediately. Inlet's tables request fsync, so
 * no server setting could turn it off.
 */
export const clickhouseEnvironment = isFastButNotDurable
  ? { ...process.env, LD_PRELOAD: 'libeatmydata.so' }
  : process.env;
