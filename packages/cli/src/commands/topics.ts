import type { Command } from 'commander';

const exitCodes = `How a command ends:

  0    it went well
  1    the work failed: a job ended with status 3, a file has bad rows, something is not there
  2    the command was wrong: an option, a missing answer, a value that the service does not take
  3    not allowed: no login, a key that is wrong, or one that may not do this
  4    the service or the storage is away or busy: the same command may work later
  130  interrupted by Ctrl-C, or a question was answered with no; a job that was queued goes on

An import that is done ends with 0 also when some of its rows were refused: the record says how many.
Commands of operators end with 0, with 1 when something failed, and with 2 when the command was wrong.`;

const environment = `What the environment can say. It goes before what \`inlet login\` kept; --profile goes before all of it but the token:

  INLET_URL, INLET_API_KEY         where the service is, and the key. INLET_URL needs INLET_API_KEY beside it: a key that
                                   was kept is never sent to another address
  INLET_PROFILE                    which login is used where INLET_URL is not set
  INLET_USER_TOKEN                 of a customer: audiences are then seen and made for it. \`inlet login\` does not keep it;
                                   one that came with --from is kept, which \`inlet profiles\` shows
  INLET_STORAGE_ENDPOINT, _REGION, _BUCKET, _PREFIX, _ACCESS_KEY_ID, _SECRET_ACCESS_KEY
                                   where uploads go; all of them, _ENDPOINT only where it is not AWS
  INLET_SOURCE_SECRET_ACCESS_KEY   of a bucket of your own, for \`inlet import s3://…\`
  XDG_CONFIG_HOME                  in whose folder \`inlet\` logins are kept; else ~/.config
  XDG_STATE_HOME                   in whose folder \`inlet\` uploads are noted until they end; else ~/.local/state
  NO_COLOR                         no colour

What is typed before a command stays in the history of the shell. Keep keys in a file that only you can read, with lines
like INLET_API_KEY=…, and let a script read it: set -a; . ./inlet.env; set +a

Off a terminal there is no colour, no question and nothing that moves. Commands of operators have
variables of their own: docs/configuration.md.`;

/** Pages of help that are about no command: \`inlet help exit-codes\`. */
export function addTopics(program: Command): void {
  const topics = [
    ['exit-codes', 'what the exit code of a command says', exitCodes],
    ['environment', 'the variables that commands read', environment],
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
