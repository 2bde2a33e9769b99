import { Client } from 'pg';
import { z } from 'zod';

export type Sent = { readonly text: string; readonly values: readonly unknown[] };

/**
 * Records every statement with parameters that this process sends to PostgreSQL. Can also change the text of
 * statements.
 */
export function watchStatements(): {
  /** Returns the statements sent while the function runs. */
  readonly during: (run: () => Promise<unknown>) => Promise<Sent[]>;
  /** Changes the text of statements while the function runs. */
  readonly editing: <T>(edit: (text: string) => string, run: () => Promise<T>) => Promise<T>;
  readonly stop: () => void;
} {
  // oxlint-disable-next-line typescript/unbound-method -- called with the client it was called on
  const { query } = Client.prototype;
  let seen: Sent[] | null = null;
  let edit = (text: string): string => text;
  Object.assign(Client.prototype, {
    query(this: Client, ...given: unknown[]): unknown {
      const sent = sentBy(given);
      if (sent) seen?.push(sent);
      const text = sent && edit(sent.text);
      // A prepared statement name identifies one text, so a changed statement is sent without a name.
      const changed = sent && text !== sent.text ? [{ text, values: sent.values }] : given;
      const answer: unknown = Reflect.apply(query, this, changed);
      return answer;
    },
  });
  return {
    during: async (run) => {
      const mine: Sent[] = [];
      seen = mine;
      await run().finally(() => {
        seen = null;
      });
      return mine;
    },
    editing: async (change, run) => {
      edit = change;
      return run().finally(() => {
        edit = (text) => text;
      });
    },
    stop: () => void Object.assign(Client.prototype, { query }),
  };
}

function sentBy([first, second]: readonly unknown[]): Sent | null {
  const { text, values } = z
    .object({ text: z.unknown(), values: z.unknown() })
    .partial()
    .catch({ text: first, values: second })
    .parse(first);
  return typeof text === 'string' && Array.isArray(values) ? { text, values: [...(values as unknown[])] } : null;
}
