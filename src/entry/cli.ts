import { run } from '@inlet/cli';
import { createProgram } from './cli/create-program.ts';
import { toFailure } from './cli/to-failure.ts';

await run(createProgram(), toFailure);
