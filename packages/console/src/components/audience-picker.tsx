import type { Audience } from '@inlet/sdk/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, useApi } from '../api.ts';
import { formatCount } from '../format.ts';
import './audience-picker.css';
import { ProblemNotice, Skeleton } from './state.tsx';

type Props = {
  readonly label: string;
  /** Audiences that cannot be chosen. */
  readonly chosen: readonly number[];
  readonly onPick: (audience: Audience) => void;
};

const shown = 8;

/** Finds an audience by part of its name. Without a name, shows the newest audiences. */
export function AudiencePicker({ label, chosen, onPick }: Props) {
  const [name, setName] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const text = useSettled(name.trim());
  const query = { limit: shown + chosen.length, ...(text !== '' && { name: text }) };
  const list = useApi(`audiences ${JSON.stringify(query)}`, (signal) => api.listAudiences({ query, signal }));
  const found = list.value?.filter(({ audience_id }) => !chosen.includes(audience_id)).slice(0, shown);
  return (
    <div class="picker stack">
      <div class="field">
        <label htmlFor="picker-name">{label}</label>
        <input
          ref={input}
          id="picker-name"
          type="search"
          autocomplete="off"
          value={name}
          placeholder="Part of the name"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </div>
      <div class="picker-results" aria-live="polite">
        {list.problem && <ProblemNotice problem={list.problem} onRetry={list.reload} />}
        {!list.problem && !found && <Skeleton lines={4} height={28} />}
        {found?.length === 0 && <p class="small muted">No audiences found.</p>}
        {found && found.length > 0 && (
          <ul>
            {found.map((audience) => (
              <li key={audience.audience_id}>
                <button
                  type="button"
                  class="pick"
                  onClick={() => {
                    onPick(audience);
                    // The list is reloaded without this button, so the focus moves to the input.
                    input.current?.focus();
                  }}
                >
                  <bdi>{audience.name}</bdi>
                  <span class="muted small">{formatCount(audience.unique_devices)} devices</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

const settleMs = 250;

/** Returns the text once it has stopped changing. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
