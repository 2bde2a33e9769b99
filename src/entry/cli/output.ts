// Results go to standard output, everything else to standard error, so that scripts can read the first.

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value, null, 2));
}

export function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}
