/** Seconds; whoever wants to wait for longer asks again. */
const longestWait = 60;

/** One preference with its parameters, up to the next comma that is not in quotes. Each character has one way to match. */
const element = /([^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*)(?:,|$)/y;
const value = /^wait[ \t]*=[ \t]*(?:"(\d+)"|(\d+))[ \t]*(?:;|$)/i;

/** `wait` of a header `Prefer` (RFC 7240), in seconds; null when it is not there or cannot be read. */
export function readWait(header: string | undefined): number | null {
  for (const preference of preferencesIn(header ?? '')) {
    if (!/^wait[ \t]*(?:[=;]|$)/i.test(preference)) continue;
    // Of several the first one counts.
    const [, quoted, plain] = value.exec(preference) ?? [];
    const seconds = Math.min(Number(quoted ?? plain ?? 0), longestWait);
    return seconds > 0 ? seconds : null;
  }
  return null;
}

function* preferencesIn(header: string): Generator<string> {
  element.lastIndex = 0;
  for (let at = 0; at < header.length; at = element.lastIndex) {
    element.lastIndex = at;
    const found = element.exec(header);
    if (!found) return;
    yield (found[1] ?? '').trim();
  }
}
