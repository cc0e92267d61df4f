// Filters of a list. They live in the address, so this only shows and changes them: chips for the states, one button for
// everything else, and what is set as words that can be taken away.
import { Popover } from '@base-ui/react/popover';
import { useState, type ReactNode } from 'react';
import type { Filters } from './address';
import { anyFilter } from './address';
import { Icon } from './icons';
import { shorten, words } from './words';

export interface FilterField {
  name: string;
  title: string;
  // What may be chosen; free text when left out.
  options?: readonly { value: string; title: string }[];
  // Words that are offered while typing.
  suggestions?: readonly string[];
  kind?: 'text' | 'moment';
  hint?: string;
}

interface Props {
  filters: Filters;
  // The name of the filter that the chips are, and its words with what they mean.
  chips?: { name: string; words: readonly { value: string; meaning: string }[] };
  fields: readonly FilterField[];
  children?: ReactNode;
}

export function FilterBar({ filters, chips, fields, children }: Props) {
  return (
    <div className="filters" role="group" aria-label="Filters">
      {chips?.words.map(({ value, meaning }) => (
        <Chip key={value} filters={filters} name={chips.name} value={value} meaning={meaning} />
      ))}
      {fields.length > 0 && <More filters={filters} fields={fields} />}
      {fields.flatMap((field) => (filters.values[field.name] ?? []).map((value) => <Pill key={`${field.name} ${value}`} filters={filters} field={field} value={value} />))}
      {anyFilter(filters, ['sort', 'view', 'q']) && (
        <button
          type="button"
          className="quiet"
          onClick={() => {
            const names = [...fields.map(({ name }) => name), ...(chips ? [chips.name] : [])];
            filters.set(Object.fromEntries(names.map((name) => [name, []])));
          }}
        >
          Clear
        </button>
      )}
      {children}
    </div>
  );
}

function Chip({ filters, name, value, meaning }: { filters: Filters; name: string; value: string; meaning: string }) {
  const chosen = filters.values[name] ?? [];
  const pressed = chosen.includes(value);
  return (
    <button
      type="button"
      className="chip"
      aria-pressed={pressed}
      title={meaning}
      onClick={() => {
        filters.set({ [name]: pressed ? chosen.filter((other) => other !== value) : [...chosen, value] });
      }}
    >
      {words(value)}
    </button>
  );
}

function Pill({ filters, field, value }: { filters: Filters; field: FilterField; value: string }) {
  const shown = field.options?.find((option) => option.value === value)?.title ?? shorten(value);
  return (
    <button
      type="button"
      className="pill"
      title={`${field.title}: ${value}. Click to take it away`}
      onClick={() => {
        filters.set({ [field.name]: [] });
      }}
    >
      <small>{field.title}</small> {shown} <Icon name="close" />
    </button>
  );
}

function More({ filters, fields }: { filters: Filters; fields: readonly FilterField[] }) {
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root modal open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="chip filter-button">
        <Icon name="filter" /> Filter
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Backdrop className="backdrop clear" />
        <Popover.Positioner align="start" sideOffset={6} className="layer">
          <Popover.Popup className="popup">
            <Popover.Title className="unseen">Filters</Popover.Title>
            <form
              className="filter-form"
              onSubmit={(event) => {
                event.preventDefault();
                const form = new FormData(event.currentTarget);
                filters.set(Object.fromEntries(fields.map((field) => [field.name, [toValue(field, form.get(field.name))]])));
                setOpen(false);
              }}
            >
              {fields.map((field) => (
                <Field key={field.name} field={field} value={filters.one(field.name)} />
              ))}
              <p className="actions">
                <button type="submit" className="primary">
                  Apply
                </button>
              </p>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Field({ field: { name, title, options, suggestions, kind = 'text', hint }, value }: { field: FilterField; value: string }) {
  const list = suggestions && suggestions.length > 0 ? `${name}-suggestions` : undefined;
  return (
    <label className="line">
      <span>{title}</span>
      {options ? (
        <select name={name} defaultValue={value}>
          <option value="">any</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.title}
            </option>
          ))}
        </select>
      ) : (
        <input
          name={name}
          type={kind === 'moment' ? 'datetime-local' : 'text'}
          defaultValue={kind === 'moment' ? toLocal(value) : value}
          placeholder={hint ?? 'any'}
          list={list}
          spellCheck={false}
          autoComplete="off"
        />
      )}
      {list !== undefined && (
        <datalist id={list}>
          {suggestions?.map((suggestion) => <option key={suggestion} value={suggestion} />)}
        </datalist>
      )}
    </label>
  );
}

// A moment is typed in the browser's own zone and kept in the address as the moment itself.
function toValue({ kind }: FilterField, given: FormDataEntryValue | null): string {
  const text = typeof given === 'string' ? given.trim() : '';
  return kind === 'moment' && text !== '' ? new Date(text).toISOString() : text;
}

export function toLocal(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
