import type { Command } from 'commander';

const exitCodes = `Exit codes:

  0    success
  1    failure: a job failed, a file has rejected rows, a record does not exist, or a check found a problem
  2    wrong usage: an invalid option or setting, a missing value, or a value that the service rejects
  3    not allowed: not logged in, an invalid key, or a key that lacks permission
  4    the service or the storage is unavailable or busy; retrying later may succeed
  130  interrupted by Ctrl-C, or a confirmation was declined; queued jobs continue

The exit code for a completed import is 0 even if some of its rows were rejected. The record shows how many.
Operator commands use the same codes. With --json, an error is a problem document on standard error: its fields \`code\`,
\`detail\`, \`remedy\`, and \`exit_code\` say what happened.`;

const environment = `Environment variables. They override the saved login; --profile overrides all of them except INLET_USER_TOKEN:

  INLET_URL, INLET_API_KEY         service URL and API key. INLET_URL requires INLET_API_KEY: a saved key is never sent
                                   to another URL
  INLET_PROFILE                    login to use if INLET_URL is not set
  INLET_USER_TOKEN                 user token of a customer: audience commands act for that customer. \`inlet login\` does
                                   not save it; a token in the --from file is saved, as \`inlet profiles\` shows
  INLET_STORAGE_ENDPOINT, _REGION, _BUCKET, _PREFIX, _ACCESS_KEY_ID, _SECRET_ACCESS_KEY
                                   storage for uploads; all are required, except _ENDPOINT for AWS
  INLET_SOURCE_SECRET_ACCESS_KEY   secret key of your own bucket, for \`inlet import s3://…\`
  INLET_SOURCE_SESSION_TOKEN       session token, if the keys of your own bucket are temporary
  XDG_CONFIG_HOME                  logins are saved in its folder \`inlet\` (default: ~/.config)
  XDG_STATE_HOME                   unfinished uploads are recorded in its folder \`inlet\` (default: ~/.local/state)
  NO_COLOR                         disable color

Variables typed before a command stay in the shell history. Keep keys in a file that only you can read, with lines like
INLET_API_KEY=…, and load it in scripts: set -a; . ./inlet.env; set +a

Without a terminal, there are no colors, prompts, or progress bars. Operator commands have their own variables:
docs/configuration.md.`;

/** Help pages that do not belong to a command, for example `inlet help exit-codes`. */
export function addTopics(program: Command): void {
  const topics = [
    ['exit-codes', 'show the exit codes', exitCodes],
    ['environment', 'show the environment variables', environment],
  ] as const;
  for (const [name, description, text] of topics) {
    program
      .command(name)
      .description(description)
      .helpGroup('More help:')
      .configureHelp({ formatHelp: () => `${text}\n` })
      .action(() => void process.stdout.write(`${text}\n`));
  }
}
