/** Prints a line with the time of day. */
export function printLine(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
