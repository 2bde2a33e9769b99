/** A line of what a long run tells, with the time of day. */
export function say(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
