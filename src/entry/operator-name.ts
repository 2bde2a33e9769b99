import { hostname, userInfo } from 'node:os';

/** Returns the operator's user name on this machine, for the audit log. */
export function operatorName(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container can run under a user ID that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
