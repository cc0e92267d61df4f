// Filters of a list by state and connector. They live in the address, so this only shows and changes them.
import { useEffect, useState } from 'react';
import type { Filters } from './address';
import { STATE_MEANING, words } from './words';

const TYPING_MS = 250;

export function FilterBar({ filters, states }: { filters: Filters; states: readonly (keyof typeof STATE_MEANING)[] }) {
  const active = filters.states.length > 0 || filters.connector !== '';
  const toggle = (state: string): void => {
    const others = filters.states.filter((other) => other !== state);
    filters.set({ states: others.length < filters.states.length ? others : [...others, state] });
  };
  return (
    <div className="filters" role="group" aria-label="Filters">
      {states.map((state) => (
        <button
          key={state}
          type="button"
          className="chip"
          aria-pressed={filters.states.includes(state)}
          title={STATE_MEANING[state]}
          onClick={() => {
            toggle(state);
          }}
        >
          {words(state)}
        </button>
      ))}
      <ConnectorField filters={filters} />
      {active && (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            filters.set({ states: [], connector: '' });
          }}
        >
          Clear filters
        </button>
      )}
    </div>
  );
}

// The address follows the typing after a short rest, so that each letter is not a read.
function ConnectorField({ filters }: { filters: Filters }) {
  const [text, setText] = useState(filters.connector);
  const [seen, setSeen] = useState(filters.connector);
  if (seen !== filters.connector) {
    setSeen(filters.connector);
    if (text.trim() !== filters.connector) setText(filters.connector);
  }
  useEffect(() => {
    if (text.trim() === filters.connector) return undefined;
    const timer = setTimeout(() => {
      filters.set({ connector: text.trim() });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text, filters]);
  return (
    <label className="connector">
      <span>Connector</span>
      <input
        type="search"
        value={text}
        placeholder="any"
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
    </label>
  );
}
