// What a person chose for this browser: the colours and the time zone. Kept in the browser, never sent anywhere.
import { useSyncExternalStore } from 'react';

export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark';
  // An IANA name; empty for the browser's own.
  readonly zone: string;
}

const KEY = 'writewatch-preferences';
const DEFAULTS: Preferences = { theme: 'system', zone: '' };

function stored(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) };
  } catch {
    // Storage may be switched off, or hold what an older page wrote.
    return DEFAULTS;
  }
}

let current = stored();
const listeners = new Set<() => void>();

// color-scheme decides which half of every light-dark() colour is shown.
function apply(): void {
  if (current.theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current.theme;
}
apply();

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // It then lasts as long as the page.
  }
  apply();
  for (const listener of listeners) listener();
}

function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(onChange, () => current);
}

// undefined where the browser does not know the zone that was chosen: it then shows its own.
export function zoneOf({ zone }: Preferences): string | undefined {
  if (zone === '') return undefined;
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: zone });
    return zone;
  } catch {
    return undefined;
  }
}
