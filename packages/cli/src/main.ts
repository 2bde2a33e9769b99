#!/usr/bin/env node
import { createProgram, run } from './cli.ts';

await run(createProgram());
