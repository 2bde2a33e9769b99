import { signal } from '@preact/signals';

/** Whether the API rejected a call because the session has ended. */
export const hasExpired = signal(false);
