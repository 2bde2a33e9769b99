export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** Prints one line per server in aligned columns. */
export function printServer(name: string, address: string, rest: string): void {
  printLine(`${name.padEnd(20)} ${address.padEnd(24)} ${rest}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
