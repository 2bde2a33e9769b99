type Props<T extends string> = {
  readonly legend: string;
  readonly name: string;
  readonly value: T;
  readonly choices: readonly (readonly [value: T, text: string])[];
  readonly hint?: string;
  readonly onChange: (value: T) => void;
};

/** A few exclusive choices. */
export function Choices<T extends string>({ legend, name, value, choices, hint, onChange }: Props<T>) {
  return (
    <fieldset class="fields plain">
      <legend class="small">
        <strong>{legend}</strong>
      </legend>
      <div class="choices">
        {choices.map(([choice, text]) => (
          <label key={choice}>
            <input type="radio" name={name} checked={value === choice} onChange={() => onChange(choice)} />
            {text}
          </label>
        ))}
      </div>
      {hint !== undefined && <span class="small muted">{hint}</span>}
    </fieldset>
  );
}
