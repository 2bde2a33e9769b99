import { connect } from './connect.ts';
import { Operations } from './generated/operations.ts';
import { defaultRetry } from './send.ts';

// The client for pages that the API itself serves. It uses nothing from Node.js.

export type { ServerEvent } from './call.ts';
export { type SelectableEventType, isSelectableEventType, selectableEventTypes } from './event-types.ts';
export type * from './generated/schemas.ts';
export type { Answered, Problem, Result } from './result.ts';

/** Calls the API on the page's own origin with the cookie of a console session. */
export class InletSession extends Operations {
  constructor(credentials: { readonly csrfToken: () => string; readonly isIdle: () => boolean }) {
    super(connect({ url: '', credentials, timeoutMs: 30_000, retry: { ...defaultRetry, attempts: 3 } }));
  }
}
