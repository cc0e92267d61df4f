// The small facts of a change, as words and values.
import { Time } from '../ui/time';
import { shorten, words } from '../ui/words';

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

export function Facts({ facts }: { facts: unknown }) {
  const known = entries(facts).filter(([, value]) => value !== null);
  if (known.length === 0) return null;
  return (
    <ul className="facts">
      {known.map(([name, value]) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        return (
          <li key={name} title={`${name}: ${text}`}>
            {words(name.replace(/At$/, ''))} <b>{MOMENT.test(text) ? <Time at={text} /> : /^[A-Z_]+$/.test(text) ? words(text) : shorten(text)}</b>
          </li>
        );
      })}
    </ul>
  );
}

// Facts that say which thing it was rather than what happened to it.
const IDENTIFYING = new Set(['operationId', 'model', 'op', 'accountKey', 'sourceId', 'version', 'note']);

// Facts that fill a line of the feed and say little at a glance; the panel's timeline has them.
const LONG = /Digest$|^digest$|At$|Until$|^maxAttempts$/;

export function notable(facts: unknown): Record<string, unknown> {
  return Object.fromEntries(entries(facts).filter(([name]) => !IDENTIFYING.has(name) && !LONG.test(name)));
}

// What a change brought: the facts that are not as they were after the change before it.
export function since(before: unknown, facts: unknown): Record<string, unknown> {
  const old = new Map(entries(before));
  const fresh = entries(facts).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)));
  return Object.fromEntries(fresh.filter(([name]) => !IDENTIFYING.has(name)));
}

// Why a person did it, in their words.
export function noteOf(facts: unknown): string | undefined {
  const note = entries(facts).find(([name]) => name === 'note')?.[1];
  return typeof note === 'string' ? note : undefined;
}

function entries(facts: unknown): [string, unknown][] {
  return typeof facts === 'object' && facts !== null ? Object.entries(facts) : [];
}
