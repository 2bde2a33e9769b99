import { readFileSync } from 'node:fs';
import type { ServiceProcess } from './running-service.ts';

/** What a process shows, at the address that it has written to its log. */
export async function metricsOf({ logFile }: ServiceProcess): Promise<string> {
  const port = /"port":(\d+),"msg":"serving metrics"/.exec(readFileSync(logFile, 'utf8'))?.[1];
  if (port === undefined) throw new Error(`no metrics are served: see ${logFile}`);
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}
