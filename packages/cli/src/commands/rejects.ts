import { type AudienceRejects, type Inlet, type Rejects, type RejectsFile, each } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { downloadRejects } from '../download-rejects.ts';
import { failureOf, remedyOf, valueOf } from '../failures/api-errors.ts';
import { CliFailure, exitCode, interrupted } from '../failures/cli-failure.ts';
import { several } from '../terminal/format.ts';
import { type Output, outputFor, untilInterrupted } from '../terminal/output.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { toId } from './arguments.ts';
import { type CredentialOptions, readCredentials, withCredentialOptions } from './source-credentials.ts';

type Options = CommonOptions &
  CredentialOptions & { readonly audience?: string; readonly download?: true; readonly directory: string };

/** An export of an import, or of one file of an audience. */
type Source = {
  readonly name: string;
  readonly request: (inlet: Inlet) => ReturnType<Inlet['getImportRejects'] | Inlet['getAudienceRejects']>;
  readonly get: (inlet: Inlet) => ReturnType<Inlet['getImportRejects'] | Inlet['getAudienceRejects']>;
  readonly files: (inlet: Inlet, ended: Rejects | AudienceRejects) => AsyncIterable<RejectsFile>;
};

const pollMs = 1_000;

export function addRejectsCommand(program: Command): void {
  const command = partnerCommand(program, 'rejects', {
    description: 'export all rejected rows of a finished import',
    examples: [
      ['inlet rejects 12', 'Write all rejected rows of import 12 to your prefix, under rejects/12/.'],
      ['inlet rejects 12 --download', 'Also download them. Decompress the files with `gunzip`.'],
      ['inlet rejects 71 --audience 3 --download', 'Download the rejected rows of file 71 of audience 3.'],
    ],
  })
    .argument('<id>', 'import ID; with --audience, the ID of a file in the audience')
    .option('--audience <id>', 'the audience that the file belongs to')
    .option('--download', 'download the exported files')
    .option('--directory <path>', 'directory for downloads', '.');
  withCredentialOptions(command).action(async (text: string, options: Options) => {
    const output = outputFor(options);
    const source =
      options.audience === undefined
        ? ofImport(toId('import', text), options)
        : ofFile(text, options.audience, options);
    const inlet = await connect(options);
    const ended = await followExport(inlet, source, output);
    const files: RejectsFile[] = [];
    for await (const file of source.files(inlet, ended)) {
      files.push(file);
      if (options.download && file.url !== null) await downloadRejects(file, options.directory, output);
    }
    output.result({ ...ended, files }, () => describe(source, ended));
    if (!options.download && ended.files_done > 0) output.note('Download them with --download.');
    if (ended.status === 3) throw failureOfExport(source, ended, files);
  });
}

function ofImport(id: number, options: CredentialOptions): Source {
  return {
    name: `import ${id}`,
    request: (inlet) => requestOfImport(inlet, id, options),
    get: (inlet) => inlet.getImportRejects(id),
    files: async function* (inlet) {
      for await (const file of each((page) => inlet.listImportRejects(id, page))) yield valueOf(file);
    },
  };
}

/**
 * Requests the export. For an import from the partner's own bucket, this requires credentials, unless an export is
 * already open or done.
 */
async function requestOfImport(
  inlet: Inlet,
  id: number,
  options: CredentialOptions,
): Promise<Awaited<ReturnType<Source['request']>>> {
  const record = await inlet.getImportLog(id);
  if (!record.ok) return record;
  const isOwn = record.value.path_type === 1;
  const found = isOwn ? await inlet.getImportRejects(id) : null;
  if (found?.ok && found.value.status !== 3) return found;
  const credentials = await readCredentials(isOwn, options);
  return inlet.requestImportRejects(id, credentials === undefined ? {} : { credentials });
}

function ofFile(fileId: string, audience: string, options: CredentialOptions): Source {
  const id = toId('audience', audience);
  return {
    name: `file ${fileId}`,
    request: async (inlet) => {
      await readCredentials(false, options);
      return inlet.requestAudienceRejects(id, fileId);
    },
    get: (inlet) => inlet.getAudienceRejects(id, fileId),
    files: async function* (_inlet, ended) {
      if ('file' in ended && ended.file !== null) yield ended.file;
    },
  };
}

async function followExport(inlet: Inlet, source: Source, output: Output): Promise<Rejects | AudienceRejects> {
  const bar = progressBar(output);
  return untilInterrupted(async (signal) => {
    try {
      let found: Rejects | AudienceRejects = valueOf(await source.request(inlet));
      while (found.status < 2) {
        bar.show({ what: source.name, done: found.bytes_read, total: found.bytes_total });
        await new Promise((resolve) => setTimeout(resolve, pollMs));
        if (signal.aborted) throw interrupted(`The export of ${source.name} continues.`);
        const next: Awaited<ReturnType<Source['get']>> = await source.get(inlet);
        if (!next.ok) throw failureOf(next.problem);
        found = next.value;
      }
      return found;
    } finally {
      bar.end();
    }
  });
}

function describe({ name }: Source, { rows, files_done: files }: Rejects): string {
  return `${escapeTerminal(name)}: ${several(rows, 'rejected row')} exported in ${several(files, 'file')}`;
}

function failureOfExport(source: Source, ended: Rejects, files: readonly RejectsFile[]): CliFailure {
  const error = files.find((file) => file.error !== null)?.error ?? ended.error;
  const code = error?.code ?? 'job_failed';
  return new CliFailure({
    code,
    title: `The export of ${source.name} failed`,
    detail: error?.message ?? 'The record has no error message.',
    remedy: remedyOf(code),
    exitCode: exitCode.failed,
  });
}
