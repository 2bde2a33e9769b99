import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import './lists.css';
import { type Filters, addressOf, readFilters } from './list-filters.ts';

export type FilterBar = {
  readonly filters: Filters;
  readonly isFiltered: boolean;
  readonly set: (name: string, value: string) => void;
  readonly clear: () => void;
};

/**
 * The filters in the page's address. Changing a filter replaces the address, so that the filtered list can be
 * bookmarked and shared.
 */
export function useFilters(names: readonly string[]): FilterBar {
  const { path, query, route } = useLocation();
  const filters = readFilters(query, names);
  return {
    filters,
    isFiltered: Object.keys(filters).length > 0,
    set: (name, value) => route(addressOf(path, { ...filters, [name]: value }), true),
    clear: () => route(path, true),
  };
}

type FieldProps = { readonly bar: FilterBar; readonly name: string; readonly label: string };

const statuses = [
  ['', 'All'],
  ['0,1', 'Open'],
  ['0', 'Queued'],
  ['1', 'Running'],
  ['2', 'Done'],
  ['3', 'Failed'],
] as const;

export function StatusFilter({ bar }: { readonly bar: FilterBar }) {
  return <ChoiceFilter bar={bar} name="status" label="Status" choices={statuses} />;
}

type Choice = readonly [value: string, text: string];

export function ChoiceFilter({ bar, name, label, choices }: FieldProps & { readonly choices: readonly Choice[] }) {
  const value = bar.filters[name] ?? '';
  // A shared address can contain a combination that is not in the list, such as `1,3`.
  const isListed = choices.some(([choice]) => choice === value);
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => bar.set(name, event.currentTarget.value)}>
        {!isListed && <option value={value}>{value}</option>}
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const typingMs = 350;

export function TextFilter({ bar, name, label, max }: FieldProps & { readonly max: number }) {
  const given = bar.filters[name] ?? '';
  const [text, setText] = useState(given);
  const latest = useRef(bar);
  latest.current = bar;
  useEffect(() => setText(given), [given]);
  useEffect(() => {
    if (text === given) return undefined;
    const timer = setTimeout(() => latest.current.set(name, text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label>
      {label}
      <input type="search" maxLength={max} value={text} onInput={(event) => setText(event.currentTarget.value)} />
    </label>
  );
}

export function DayFilters({ bar }: { readonly bar: FilterBar }) {
  return (
    <>
      <DayFilter bar={bar} name="from" label="Created from" />
      <DayFilter bar={bar} name="to" label="Created until" />
    </>
  );
}

function DayFilter({ bar, name, label }: FieldProps) {
  return (
    <label>
      {label}
      <input
        type="date"
        value={bar.filters[name] ?? ''}
        onChange={(event) => bar.set(name, event.currentTarget.value)}
      />
    </label>
  );
}

type BarProps = { readonly bar: FilterBar; readonly label: string; readonly children: ComponentChildren };

export function Filterbar({ bar, label, children }: BarProps) {
  return (
    <form class="filters" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      {children}
      <button type="button" disabled={!bar.isFiltered} onClick={bar.clear}>
        Clear filters
      </button>
    </form>
  );
}
