import { join } from 'node:path';
import { readAddresses } from '../../stack/addresses.ts';

/** Where the processes of a test run write their logs; emptied at the start of a run. */
export const logDirectory = join(readAddresses().directory, 'test-logs');
