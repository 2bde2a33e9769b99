import { readFileSync } from 'node:fs';
import type { ServiceProcess } from './running-service.ts';

/** Reads a process's metrics from the address in its log. */
export async function metricsOf({ logFile }: ServiceProcess): Promise<string> {
  const port = /"port":(\d+),"msg":"serving metrics"/.exec(readFileSync(logFile, 'utf8'))?.[1];
  if (port === undefined) throw new Error(`no metrics address in the log: see ${logFile}`);
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}
