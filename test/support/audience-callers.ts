import { setTimeout as pause } from 'node:timers/promises';
import type { AudienceClient } from '../acceptance/audience-client.ts';
import {
  appendFiles,
  devicesOf,
  emptyAudience,
  entriesOf,
  type ModelAudience,
  type ModelFiles,
  statusOf,
} from './audience-model.ts';
import { knownDevices, type Step } from './audience-scripts.ts';

// These callers run the steps of a script against both the HTTP API and the model.

/** The partner's own audiences or the audiences of one customer. */
export type Scope = {
  readonly api: AudienceClient;
  readonly audiences: OwnAudience[];
};

type OwnAudience = {
  readonly id: number;
  name: string;
  model: ModelAudience;
  /** Appends that were canceled in this round and are not retried yet. */
  canceled: { readonly appendId: number; readonly path: string }[];
};

export type Caller = { readonly id: number; readonly prefix: string; readonly scopes: readonly Scope[] };

export async function takeStep({ api, audiences }: Scope, files: ModelFiles, step: Step): Promise<void> {
  await pause(step.pause);
  if (step.do === 'create') {
    const name = `Audience ${audiences.length}`;
    const { audienceId } = await api.create(name, step.path);
    const model = emptyAudience();
    appendFiles(model, files, step.path);
    audiences.push({ id: audienceId, name, model, canceled: [] });
    return;
  }
  const audience = audiences[step.audience % audiences.length];
  if (!audience) return;
  if (step.do === 'append') {
    // Sequential, because the status depends on which append is last.
    for (const path of step.paths) {
      await api.append(audience.id, path);
      appendFiles(audience.model, files, path);
    }
    return;
  }
  if (step.do === 'cancel') return appendAndCancel(api, audience, files, step);
  if (step.do === 'rename') {
    audience.name = step.name;
    return api.rename(audience.id, step.name);
  }
  if (step.do === 'delete') {
    audiences.splice(audiences.indexOf(audience), 1);
    return api.remove(audience.id);
  }
  audience.model = emptyAudience();
  audience.canceled = [];
  if (step.do === 'clear') return api.clear(audience.id);
  await Promise.all([api.append(audience.id, step.path), api.clear(audience.id)]);
  await api.append(audience.id, step.path);
  appendFiles(audience.model, files, step.path);
}

/** The model ignores the cancellation, because the append is retried at the end of the round. */
async function appendAndCancel(
  api: AudienceClient,
  audience: OwnAudience,
  files: ModelFiles,
  { path, after }: Extract<Step, { readonly do: 'cancel' }>,
): Promise<void> {
  await api.append(audience.id, path);
  appendFiles(audience.model, files, path);
  // No other caller appends to the audiences of this scope.
  const [newest] = await api.history(audience.id, '?limit=1');
  const appendId = newest?.append?.append_id ?? 0;
  await pause(after);
  if (await api.cancel(audience.id, appendId)) audience.canceled.push({ appendId, path });
}

/**
 * Retries what was canceled in this round, one append after another. An append without failed files needs no retry,
 * because a later append has loaded them. The caller waits for all loads first.
 */
export async function retryCanceled(scope: Scope, files: ModelFiles): Promise<void> {
  for (const audience of scope.audiences) {
    for (const { appendId, path } of audience.canceled) {
      if (!(await scope.api.hasFailedFiles(audience.id, appendId))) continue;
      await scope.api.retry(audience.id, appendId, 'failed');
      appendFiles(audience.model, files, path);
      await waitForLoads(scope);
    }
    audience.canceled = [];
  }
}

/** Dismisses the first failed entry in every audience's file list. The caller waits for all loads first. */
export async function dismissFirst({ api, audiences }: Scope, prefix: string): Promise<void> {
  for (const { id, model } of audiences) {
    const failed = (await api.get(id)).file.filter(({ status }) => status === 3);
    const first = failed.toSorted((one, other) => (one.s3_path < other.s3_path ? -1 : 1))[0];
    if (!first) continue;
    await api.dismiss(id, first.file_id);
    const entry = model.failed.get(first.s3_path.slice(prefix.length));
    if (entry) entry.isDismissed = true;
  }
}

/** Polls less often than other tests do, because there are many audiences. */
export async function waitForLoads({ api }: Scope): Promise<void> {
  const end = Date.now() + 120_000;
  while ((await api.list()).some(({ status }) => status < 2)) {
    if (Date.now() > end) throw new Error('An audience still has pending loads after two minutes.');
    await pause(250);
  }
}

export async function shownAudiences({ api }: Scope): Promise<object[]> {
  const listed = await api.list();
  return Promise.all(
    listed.toReversed().map(async ({ audience_id: id }) => {
      const { name, status, uploaded_devices, unique_devices, matched_devices, file } = await api.get(id);
      const entries = file.map((entry) => `${entry.s3_path} ${entry.status} ${entry.rows_uploaded}`).toSorted();
      return { id, name, status, uploaded_devices, unique_devices, matched_devices, entries };
    }),
  );
}

export function expectedAudiences({ audiences }: Scope, prefix: string): object[] {
  return audiences
    .toSorted((one, other) => one.id - other.id)
    .map(({ id, name, model }) => {
      const devices = devicesOf(model);
      return {
        id,
        name,
        status: statusOf(model),
        uploaded_devices: model.uploaded,
        unique_devices: devices.size,
        matched_devices: devices.intersection(knownDevices).size,
        entries: entriesOf(model)
          .map(([path, status, rows]) => `${prefix}${path} ${status} ${rows}`)
          .toSorted(),
      };
    });
}

/** Returns lines with audience, device, and event. */
export function expectedMembers({ scopes }: Caller): string[] {
  return scopes
    .flatMap(({ audiences }) => audiences)
    .flatMap(({ id, model }) => Array.from(model.members, (member) => `${id} ${member}`))
    .toSorted();
}
