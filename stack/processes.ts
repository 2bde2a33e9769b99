import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readIfThere } from './files.ts';

/** A process that we started: its pid file, and words that its command line must hold. */
export interface Daemon {
  readonly pidFile: string;
  /** Pids get used again, so a pid alone proves nothing: without these words it is somebody else's process. */
  readonly commandLine: readonly string[];
}

function isThatProcess(pid: number, daemon: Daemon): boolean {
  // The command line of a process that ended but was not yet collected by its parent is empty: also not running.
  const commandLine = readIfThere(`/proc/${String(pid)}/cmdline`)?.replaceAll('\0', ' ') ?? '';
  return daemon.commandLine.every((word) => commandLine.includes(word));
}

export function pidOf(daemon: Daemon): number | undefined {
  const pid = Number.parseInt(readIfThere(daemon.pidFile) ?? '', 10);
  return pid > 1 && isThatProcess(pid, daemon) ? pid : undefined;
}

/** The pid file was left behind by a crash, and by now its pid is some other process. */
export function isPidTakenByAnother(daemon: Daemon): boolean {
  const pid = Number.parseInt(readIfThere(daemon.pidFile) ?? '', 10);
  return pid > 1 && existsSync(`/proc/${String(pid)}`) && !isThatProcess(pid, daemon);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself between our look and our signal.
  }
}

/** Says whether it came true before the time was up. */
export async function waitUntil(isTrue: () => boolean | Promise<boolean>, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}

/** Asks the process to end, and after a while makes it. */
export async function stopDaemon(daemon: Daemon, patienceMs: number): Promise<void> {
  const pid = pidOf(daemon);
  if (pid === undefined) return;
  const hasEnded = (): boolean => !isThatProcess(pid, daemon);
  signal(pid, 'SIGTERM');
  if (await waitUntil(hasEnded, patienceMs)) return;
  signal(pid, 'SIGKILL');
  if (!(await waitUntil(hasEnded, 10_000))) throw new Error(`Process ${String(pid)} does not end.`);
}
