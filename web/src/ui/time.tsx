// Times as a person reads them: how long ago or how soon, the exact moment in the chosen time zone on hover.
import { useCallback, useSyncExternalStore } from 'react';
import { usePreferences, zoneOf, type Preferences } from './preferences';

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

export function relative(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (Math.abs(seconds) < 2) return 'now';
  const length = duration(Math.abs(seconds) * 1000);
  return seconds < 0 ? `${length} ago` : `in ${length}`;
}

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['s', 1];
  return `${String(Math.floor(seconds / size))} ${unit}`;
}

// One formatter for each zone: making one is slow.
const formatters = new Map<string, Intl.DateTimeFormat>();

export function exact(at: string, preferences: Preferences): string {
  const zone = zoneOf(preferences);
  let formatter = formatters.get(zone ?? '');
  if (!formatter) {
    formatter = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long', timeZone: zone });
    formatters.set(zone ?? '', formatter);
  }
  return formatter.format(new Date(at));
}

// One clock for all times on the page. Each shows its text again only when that text changes.
const ticking = new Set<() => void>();
let clock: ReturnType<typeof setInterval> | undefined;

function onTick(listener: () => void): () => void {
  ticking.add(listener);
  clock ??= setInterval(() => {
    for (const tick of ticking) tick();
  }, 1000);
  return () => {
    ticking.delete(listener);
    if (ticking.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}

export function useTicking(say: (now: number) => string): string {
  return useSyncExternalStore(
    onTick,
    useCallback(() => say(Date.now()), [say]),
  );
}

export function Time({ at }: { at: string }) {
  return <Ticking at={at} say={relative} />;
}

// A time that something waits for: once it has come, the thing is due.
export function Due({ at }: { at: string }) {
  return <Ticking at={at} say={due} />;
}

function due(at: string, now: number): string {
  return Date.parse(at) <= now ? 'due' : relative(at, now);
}

// Both hands of a running lease: minutes and seconds, to the second.
export function Countdown({ at }: { at: string }) {
  return <Ticking at={at} say={countdown} />;
}

function countdown(at: string, now: number): string {
  const left = Math.max(0, Math.ceil((Date.parse(at) - now) / 1000));
  return `${String(Math.floor(left / 60))}:${String(left % 60).padStart(2, '0')}`;
}

// The moment itself, where it matters more than how long ago it was.
export function Exact({ at }: { at: string }) {
  const preferences = usePreferences();
  return <time dateTime={at}>{exact(at, preferences)}</time>;
}

function Ticking({ at, say }: { at: string; say: (at: string, now: number) => string }) {
  const preferences = usePreferences();
  const text = useTicking(useCallback((now: number) => say(at, now), [at, say]));
  return (
    <time dateTime={at} title={exact(at, preferences)}>
      {text}
    </time>
  );
}
