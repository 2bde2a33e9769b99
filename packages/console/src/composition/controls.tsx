import type { AudienceDetails } from '@inlet/sdk/browser';
import { useMemo, useState } from 'preact/hooks';
import { AudiencePicker } from '../components/audience-picker.tsx';
import { Dialog } from '../components/page.tsx';
import { countryName } from './entry-labels.ts';
import { useCountries } from './use-countries.ts';
import { type Order, type View, allowsCountry, readView, withSplit } from './view.ts';

type Props = {
  readonly view: View;
  readonly onChange: (view: View) => void;
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly audienceId: number | undefined;
  /** The audience to compare with. */
  readonly other: AudienceDetails | undefined;
  /** Sessions from a one-time link see only one audience. */
  readonly canCompareAudiences: boolean;
};

const orderNames: Readonly<Record<Order, string>> = {
  index: 'Index, highest first',
  lowest_index: 'Index, lowest first',
  devices: 'Devices, most first',
};

/** The controls that determine what the report shows. */
export function Controls({ view, onChange, name, onName, audienceId, other, canCompareAudiences }: Props) {
  const [isPicking, setPicking] = useState(false);
  const byCountry = allowsCountry(view.split);
  const countries = useCountries();
  const options = useMemo(() => {
    const { country } = view;
    const named =
      countries.length > 0 || country === null ? countries : [{ code: country, name: countryName(country) }];
    return named.map(({ code, name: text }) => (
      <option key={code} value={code} disabled={!byCountry}>
        {text}
      </option>
    ));
  }, [countries, view.country, byCountry]);
  const chooseBaseline = (value: string): void =>
    onChange({
      ...view,
      country: /^[A-Z]{2}$/.test(value) ? value : null,
      audienceId: value === 'audience' ? view.audienceId : null,
    });
  return (
    <div class="filters view no-print">
      <label>
        Find an attribute
        <input type="search" value={name} maxLength={256} onInput={(event) => onName(event.currentTarget.value)} />
      </label>
      <label class="baseline-choice">
        Compare with
        <select
          value={view.audienceId === null ? (view.country ?? '') : 'audience'}
          onChange={(event) => chooseBaseline(event.currentTarget.value)}
        >
          <option value="">All known devices</option>
          {view.audienceId !== null && <option value="audience">{other?.name ?? 'Another audience'}</option>}
          <optgroup label={byCountry ? 'Devices in one country' : 'Devices in one country (not with this split)'}>
            {options}
          </optgroup>
        </select>
      </label>
      {canCompareAudiences && (
        <button type="button" onClick={() => setPicking(true)}>
          Another audience …
        </button>
      )}
      <label>
        Split by
        <select
          value={view.split ?? ''}
          onChange={(event) => onChange(withSplit(view, readView({ split: event.currentTarget.value }).split))}
        >
          <option value="">No split</option>
          <option value="country">Country</option>
          <option value="id_type">ID type</option>
          <option value="event">Event</option>
        </select>
      </label>
      <label class="sort-choice">
        Sort by
        <select
          value={view.order}
          onChange={(event) => onChange({ ...view, order: readView({ order: event.currentTarget.value }).order })}
        >
          {Object.entries(orderNames).map(([order, text]) => (
            <option key={order} value={order}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={view.showsSmall}
          onChange={(event) => onChange({ ...view, showsSmall: event.currentTarget.checked })}
        />
        Show small groups
      </label>
      {isPicking && (
        <Dialog title="Compare with an audience" onClose={() => setPicking(false)}>
          <AudiencePicker
            label="Audience"
            chosen={audienceId === undefined ? [] : [audienceId]}
            onPick={({ audience_id }) => {
              setPicking(false);
              onChange({ ...view, country: null, audienceId: audience_id });
            }}
          />
          <div class="row">
            <button type="button" onClick={() => setPicking(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
