/** Clients that want to wait longer repeat the request. */
const maxWaitSeconds = 60;

/** One preference with its parameters, up to the next unquoted comma. Unambiguous, so matching takes linear time. */
const element = /([^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*)(?:,|$)/y;
const value = /^wait[ \t]*=[ \t]*(?:"(\d+)"|(\d+))[ \t]*(?:;|$)/i;

/** `wait` of a `Prefer` header (RFC 7240), in seconds; null if absent or malformed. */
export function readWait(header: string | undefined): number | null {
  for (const preference of preferencesIn(header ?? '')) {
    if (!/^wait[ \t]*(?:[=;]|$)/i.test(preference)) continue;
    // If there are several, the first one applies.
    const [, quoted, plain] = value.exec(preference) ?? [];
    const seconds = Math.min(Number(quoted ?? plain ?? 0), maxWaitSeconds);
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
