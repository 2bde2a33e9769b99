import type { ImportLog } from '@inlet/sdk';
import { describe, expect, it } from 'vitest';
import { barOfImport, describeImport, nameOfJob } from './describe-import.ts';

const running: ImportLog = {
  import_log_id: 12,
  file_path: 'deliveries/',
  path_type: 0,
  key_type: 1,
  status: 1,
  log_type: 0,
  keys: null,
  unique_devices: '0',
  total_rows: '0',
  mode: 'merge',
  suppressed: 0,
  errors: null,
  created_at: '2026-11-16T12:00:00.000Z',
  updated_at: '2026-11-16T12:00:05.000Z',
  started_at: null,
  finished_at: null,
  cancel_requested_at: null,
  cancel_requested_by: null,
  canceled_by: null,
  requested_by: null,
  retry_of: null,
  subscription_id: null,
  progress: {
    rows_read: 1_250_000,
    bytes_total: 200_000_000,
    bytes_read: 50_000_000,
    percent: 25,
    queue_position: 0,
    estimated_seconds_left: 30,
  },
};

describe('the status of an import', () => {
  it('prints the status of an import on one line', () => {
    expect(describeImport(running)).toBe('import 12: running, 25 %, 1,250,000 rows, 30 s left');
  });

  it('draws a progress bar with the rate on a terminal', () => {
    const bar = `${'█'.repeat(10)}${'░'.repeat(30)}`;
    expect(barOfImport(running, 5_000_000, 99)).toBe(`import 12  ${bar}   25 %  1,250,000 rows  5.00 MB/s  30 s left`);
  });

  it('draws no progress bar before the import runs', () => {
    const pending: ImportLog = { ...running, status: 0, progress: { ...running.progress, queue_position: 3 } };
    expect(barOfImport(pending, null, 99)).toBe('import 12: pending, 3 jobs ahead');
  });

  it('escapes control characters in IDs and statuses from the service', () => {
    const hostile: ImportLog = Object.assign({ ...running }, { import_log_id: '\x1b[2J', status: '\x9b31m' });
    const shown = [describeImport(hostile), barOfImport(hostile, null, 99), nameOfJob(hostile)].join(' ');
    expect(shown).toContain(String.raw`import \x1b[2J`);
    for (const obeyed of ['\x1b', '\x9b']) expect(shown).not.toContain(obeyed);
  });
});
