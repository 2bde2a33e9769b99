import type { Event } from '@inlet/sdk';
import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { type Output, outputFor, untilInterrupted } from '../terminal/output.ts';
import { wholeNumber } from './arguments.ts';

type Options = CommonOptions & { readonly forwardTo?: string; readonly after?: number };

const timeoutMs = 15_000;

export function addListenCommand(program: Command): void {
  partnerCommand(program, 'listen', {
    description: 'print events as they happen, and forward them to a local server',
    examples: [
      ['inlet listen', 'Print events until you press Ctrl-C.'],
      ['inlet listen --forward-to http://localhost:3000/hooks', 'Send each event to a server that you are developing.'],
    ],
  })
    .option('--forward-to <url>', 'send each event as a signed POST request, like a webhook')
    .option(
      '--after <sequence>',
      'start after this event (default: after the newest one)',
      wholeNumber(0, 999_999_999_999_999),
    )
    .action(async ({ forwardTo, after, ...options }: Options) => {
      const output = outputFor(options);
      const target = forwardTo === undefined ? null : toTarget(forwardTo);
      const inlet = await connect(options);
      const { signWebhook } = await import('@inlet/sdk');
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      if (target) output.note(`Events are signed with this secret until you press Ctrl-C: ${secret}`);
      await untilInterrupted(async (signal) => {
        const first = after ?? (await lastSequence(inlet));
        output.note(`Waiting for events after ${first}.`);
        for await (const found of inlet.events({ after: first, signal })) {
          if (signal.aborted) return;
          const event = valueOf(found);
          const result = target ? await forward(target, event, { secret, signWebhook }) : null;
          print(output, event, result);
        }
      });
    });
}

function toTarget(text: string): URL {
  const url = URL.parse(text);
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw wrongUse(`"${text}" is not a URL.`, 'Pass a URL such as http://localhost:3000/hooks.');
}

/**
 * Returns the sequence number of the newest event, so that only later events are printed. In this order, the API omits
 * events of types that it does not know yet during a deployment. Such events are then printed even though they are not
 * new.
 */
async function lastSequence(inlet: Awaited<ReturnType<typeof connect>>): Promise<number> {
  const [newest] = valueOf(await inlet.listEvents({ query: { order: 'desc', limit: 1 } }));
  return newest?.sequence ?? 0;
}

type Signing = {
  readonly secret: string;
  readonly signWebhook: (
    secret: string,
    message: { readonly id: string; readonly timestamp: string; readonly body: string },
  ) => Promise<string>;
};

/** Returns the status of the response, or the reason if there was none. */
async function forward(target: URL, event: Event, { secret, signWebhook }: Signing): Promise<number | string> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1000));
  try {
    const answer = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': await signWebhook(secret, { id: event.id, timestamp, body }),
      },
      body,
    });
    await answer.body?.cancel();
    return answer.status;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
    return 'connection failed';
  }
}

function print(output: Output, event: Event, result: number | string | null): void {
  const { sequence, type, link } = event;
  const end = result === null ? '' : ` → ${typeof result === 'number' ? `HTTP ${result}` : result}`;
  output.line(result === null ? event : { event, result }, () => escapeTerminal(`${sequence} ${type} ${link}${end}`));
}
