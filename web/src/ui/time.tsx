// Times as a person reads them: how long ago or how soon, the exact moment on hover.
import { useCallback, useSyncExternalStore } from 'react';

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

export function relative(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  const distance = Math.abs(seconds);
  if (distance < 2) return 'now';
  const [unit, size] = UNITS.find(([, size]) => distance >= size) ?? ['s', 1];
  const length = `${String(Math.floor(distance / size))} ${unit}`;
  return seconds < 0 ? `${length} ago` : `in ${length}`;
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

function Ticking({ at, say }: { at: string; say: (at: string, now: number) => string }) {
  const text = useSyncExternalStore(
    onTick,
    useCallback(() => say(at, Date.now()), [at, say]),
  );
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {text}
    </time>
  );
}
