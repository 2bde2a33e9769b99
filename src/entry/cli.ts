import { run } from '@inlet/cli';
import { Failure } from '../domain/failure.ts';
import { createProgram } from './cli/create-program.ts';

await run(createProgram(), (error) => {
  if (error instanceof Failure) return `${error.code}: ${error.detail}\n${error.entry.remedy}`;
  return error instanceof Error ? error.message : String(error);
});
