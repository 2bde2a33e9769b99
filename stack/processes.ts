import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readIfExists } from './files.ts';

/** A server process, identified by its PID file and its command line. */
export interface Daemon {
  readonly pidFile: string;
  /** Words that the command line must contain. PIDs are reused, so a PID alone does not identify a process. */
  readonly commandLine: readonly string[];
}

function isThatProcess(pid: number, daemon: Daemon): boolean {
  // A zombie process has an empty command line and counts as not running.
  const commandLine = readIfExists(`/proc/${String(pid)}/cmdline`)?.replaceAll('\0', ' ') ?? '';
  return daemon.commandLine.every((word) => commandLine.includes(word));
}

export function pidOf(daemon: Daemon): number | undefined {
  const pid = Number.parseInt(readIfExists(daemon.pidFile) ?? '', 10);
  return pid > 1 && isThatProcess(pid, daemon) ? pid : undefined;
}

/** Returns whether the PID file is stale and names another process. */
export function isPidTakenByAnother(daemon: Daemon): boolean {
  const pid = Number.parseInt(readIfExists(daemon.pidFile) ?? '', 10);
  return pid > 1 && existsSync(`/proc/${String(pid)}`) && !isThatProcess(pid, daemon);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process exited in the meantime.
  }
}

/** Polls until the condition is true. Returns false on timeout. */
export async function waitUntil(isTrue: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}

/** Sends SIGTERM, then SIGKILL after the timeout. */
export async function stopDaemon(daemon: Daemon, timeoutMs: number): Promise<void> {
  const pid = pidOf(daemon);
  if (pid === undefined) return;
  const hasEnded = (): boolean => !isThatProcess(pid, daemon);
  signal(pid, 'SIGTERM');
  if (await waitUntil(hasEnded, timeoutMs)) return;
  signal(pid, 'SIGKILL');
  if (!(await waitUntil(hasEnded, 10_000))) throw new Error(`Process ${String(pid)} does not exit.`);
}
