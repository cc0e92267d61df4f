// What the address bar holds besides the view: the filters and the row that is open. A link is a view to share.
import { useCallback, useMemo } from 'react';
import { useLocation, useSearch, useSearchParams } from 'wouter';

const OPEN = 'open';

export function useOpenId(): string | undefined {
  const [params] = useSearchParams();
  return params.get(OPEN) ?? undefined;
}

// The address of this view with that row open.
export function useOpenHref(): (id: string | undefined) => string {
  const [path] = useLocation();
  const search = useSearch();
  return useCallback(
    (id) => {
      const params = new URLSearchParams(search);
      if (id === undefined) params.delete(OPEN);
      else params.set(OPEN, id);
      const text = params.toString();
      return text ? `${path}?${text}` : path;
    },
    [path, search],
  );
}

export interface Filters {
  states: readonly string[];
  connector: string;
  set: (change: { states?: readonly string[]; connector?: string }) => void;
}

// The same object as long as the filters are the same: lists and timers depend on it.
export function useFilters(): Filters {
  const [params, setParams] = useSearchParams();
  const connector = params.get('connector') ?? '';
  const chosen = params.getAll('state').join(',');
  return useMemo(
    () => ({
      states: chosen === '' ? [] : chosen.split(','),
      connector,
      set: (change) => {
        setParams((before) => changed(before, change), { replace: true });
      },
    }),
    [connector, chosen, setParams],
  );
}

function changed(before: URLSearchParams, change: Parameters<Filters['set']>[0]): URLSearchParams {
  const params = new URLSearchParams(before);
  if (change.states) {
    params.delete('state');
    for (const state of change.states) params.append('state', state);
  }
  if (change.connector === '') params.delete('connector');
  else if (change.connector !== undefined) params.set('connector', change.connector);
  return params;
}
