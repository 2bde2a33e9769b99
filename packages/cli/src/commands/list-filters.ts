import { type Command, InvalidArgumentError } from 'commander';

/** Options that restrict the lists of imports and audiences. */
export type ListFilters = {
  readonly status?: string;
  readonly createdFrom?: string;
  readonly createdTo?: string;
};

/** The words that the tables show, and their codes in the API. */
const statuses: readonly string[] = ['pending', 'running', 'done', 'failed'];

export function withListFilters(command: Command): Command {
  return command
    .option('--status <statuses>', `list only these statuses, separated by commas: ${statuses.join(', ')}`, toStatuses)
    .option('--created-from <time>', 'list only those created at or after this date or time, for example 2026-11-01')
    .option('--created-to <time>', 'list only those created before this date or time');
}

export function filterQuery({ status, createdFrom, createdTo }: ListFilters) {
  return { status, created_from: createdFrom, created_to: createdTo };
}

function toStatuses(text: string): string {
  return text
    .split(',')
    .map((word) => {
      const code = statuses.indexOf(word.trim());
      if (code === -1) throw new InvalidArgumentError(`Must be one or more of ${statuses.join(', ')}.`);
      return code;
    })
    .join(',');
}
