/** What a follower wants to be told: every change, or only that the record is final. */
export type Wants = 'changes' | 'end';

/** One record that somebody follows, as it was found by the last look at it. */
export type Topic<Of, State> = {
  readonly key: string;
  readonly of: Of;
  readonly followers: Map<object, { readonly wants: Wants; readonly wake: () => void }>;
  last: State | null;
  /** Found before `last` was read: with the same mark, `last` is still what the record is. */
  mark: string | null;
  /** The number of the look that `last` is from; 0 before the first. */
  look: number;
  /** Why the record could not be read, and in which look. */
  failed: { readonly look: number; readonly error: unknown } | null;
  /** Somebody waits for the state as it is now. */
  isAsked: boolean;
};

export function newTopic<Of, State>(key: string, of: Of): Topic<Of, State> {
  return { key, of, followers: new Map(), last: null, mark: null, look: 0, failed: null, isAsked: false };
}

export function wantsChanges({ followers }: Pick<Topic<unknown, unknown>, 'followers'>): boolean {
  return [...followers.values()].some(({ wants }) => wants === 'changes');
}

export function wakeAll({ followers }: Pick<Topic<unknown, unknown>, 'followers'>): void {
  for (const { wake } of followers.values()) wake();
}
