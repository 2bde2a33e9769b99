import {
  type Environment,
  type Installation,
  type Outcome,
  type Site,
  doctorLines,
  findWrongNumbers,
  observe,
} from './site.ts';

/** The result of a case, which is one line in the table that the campaign prints. */
export type Finding = {
  readonly outcome: Outcome['is'];
  readonly says: string;
  /** The line of `inlet doctor`, or the code in the record, that names the problem. */
  readonly named: string;
  /** The numbers that are still wrong after the problem is fixed. */
  readonly wrong: readonly string[];
};

export type Sites = {
  /** A new partner in the installation that the cases share. */
  readonly shared: () => Promise<Site>;
  /** A new partner in a new installation. */
  readonly own: () => Promise<Site>;
  /** A new installation without partners. */
  readonly empty: () => Promise<Installation>;
};

export type Case = {
  readonly number: number;
  readonly title: string;
  /** Whether the case also runs in the gate. */
  readonly isShort?: true;
  readonly run: (sites: Sites) => Promise<Finding>;
};

export type Misconfiguration = {
  /** Settings for the worker and for doctor. */
  readonly settings?: Environment;
  /** Settings for doctor, if they differ. */
  readonly doctorSettings?: Environment;
  /** Undoes a change in a server or a file. */
  readonly undo?: () => Promise<unknown>;
};

export type Expectation = {
  /** The reason that the process's log must contain. */
  readonly reason: RegExp;
  /** The line that doctor must print. Null if only the record names the problem, because the partner caused it. */
  readonly doctor: RegExp | null;
  /** True if doctor names the difference without failing, because the difference is harmless. */
  readonly isHarmless?: boolean;
  readonly entry?: 'api' | 'worker';
  /** The number of matched devices, if the audience file is loaded before the import succeeds. */
  readonly matched?: number;
  /** The number of seconds to wait for the outcome. */
  readonly seconds?: number;
};

/** Matches nothing. Use it for a case in which no process logs a problem. */
export const never = /(?!)/;

/**
 * The common form of a case: It submits work, misconfigures the installation, runs doctor, watches a worker, undoes the
 * change, and compares the numbers after a correct worker has finished the work. Failed work is submitted again.
 */
export function misconfigured(
  change: (site: Site, sites: Sites) => Promise<Misconfiguration>,
  expected: Expectation,
): Case['run'] {
  return async (sites) => {
    const site = await sites.shared();
    const importId = await site.submit();
    const { settings = {}, doctorSettings = settings, undo } = await change(site, sites);
    const worker = site.launch({ ...site.environment, ...settings }, expected.entry);
    const [lines, outcome] = await Promise.all([
      doctorLines({ ...site.environment, ...doctorSettings }),
      observe(site, worker, importId, expected),
    ]);
    await site.stopWorkers();
    await undo?.();
    const { is, says } = outcome;
    if (is === 'unexplained') return { outcome: is, says, named: '', wrong: [] };
    await site.startWorker();
    return {
      outcome: is,
      says,
      named: nameOf(expected, lines, says),
      wrong: await findWrongNumbers(
        site,
        is === 'fails with a clear code' ? await site.submit() : importId,
        expected.matched,
      ),
    };
  };
}

function nameOf(
  { doctor, isHarmless = false }: Pick<Expectation, 'doctor' | 'isHarmless'>,
  lines: Awaited<ReturnType<typeof doctorLines>>,
  says: string,
): string {
  if (doctor === null) return `record: ${says}`;
  const line = lines.find(({ text, isOk }) => doctor.test(text) && isOk === isHarmless);
  const failed = lines.flatMap(({ isOk, text }) => (isOk ? [] : text));
  return line ? line.text.slice(0, 200) : `not named: ${failed.join(' | ')}`;
}

/** Finds doctor's line in a case that does not have the common form. */
export async function doctorNames(environment: Environment, doctor: RegExp): Promise<string> {
  return nameOf({ doctor }, await doctorLines(environment), '');
}
