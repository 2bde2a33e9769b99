import { linkSeconds, maxOpenLinks } from '../../domain/console-session.ts';
import { Failure } from '../../domain/failure.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ConsoleLinks, NewLink, TokenIssuer } from '../../ports/console.ts';
import type { CompositionStore } from '../../ports/report-store.ts';

export type ConsoleLinkDeps = {
  readonly compositions: Pick<CompositionStore, 'findAudience'>;
  readonly links: ConsoleLinks;
  readonly tokens: TokenIssuer;
};

/** Creates a link with which one browser can read the report of one audience. */
export async function createConsoleLink(
  { compositions, links, tokens }: ConsoleLinkDeps,
  { scope, apiKeyId, userTokenId }: Omit<NewLink, 'target'>,
  segmentId: number,
): Promise<{ readonly token: Secret; readonly expiresAt: Date }> {
  const audience = await compositions.findAudience(scope, segmentId);
  if (!audience) throw new Failure('not_found', `Segment ${segmentId} does not exist.`);
  const { token, hash } = tokens.issue();
  const target = { segmentId, audienceId: audience.audienceId };
  const limits = { seconds: linkSeconds, atMost: maxOpenLinks };
  const expiresAt = await links.create(hash, { scope, apiKeyId, userTokenId, target }, limits);
  if (expiresAt) return { token, expiresAt };
  throw new Failure('too_many_requests', `${maxOpenLinks} console links are open, which is the limit.`, {
    retryAfterSeconds: linkSeconds,
  });
}
