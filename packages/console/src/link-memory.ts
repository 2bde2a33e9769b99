// After the session of a one-time link has ended, the page no longer knows that there was a link. Its reader usually has no
// account, so a sign-in page would lead nowhere. The browser therefore remembers which partner the last link came from.

const key = 'inlet-link-partner';

/** Null after a sign-in without a link. */
export function rememberLink(partner: string | null): void {
  try {
    if (partner === null) localStorage.removeItem(key);
    else localStorage.setItem(key, partner);
  } catch {
    // Without storage, the reader sees the sign-in page.
  }
}

export function partnerOfLastLink(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
