// What the address bar holds besides the view: the filters and what is open. A link is a view to share.
import { useCallback, useMemo } from 'react';
import { useLocation, useSearch, useSearchParams } from 'wouter';

// What the panel shows: a node, or a document, which is none.
export type Opened = { readonly node: string } | { readonly document: string };

const NODE = 'open';
const DOCUMENT = 'doc';

export function useOpened(): Opened | undefined {
  const [params] = useSearchParams();
  const [node, document] = [params.get(NODE), params.get(DOCUMENT)];
  return useMemo(() => (node !== null ? { node } : document !== null ? { document } : undefined), [node, document]);
}

export function sameOpened(one: Opened | undefined, other: Opened): boolean {
  if (!one) return false;
  return 'node' in one ? 'node' in other && one.node === other.node : 'document' in other && one.document === other.document;
}

// The address of this view with that open.
export function useOpenHref(): (opened: Opened | undefined) => string {
  const [path] = useLocation();
  const search = useSearch();
  return useCallback(
    (opened) => {
      const params = new URLSearchParams(search);
      params.delete(NODE);
      params.delete(DOCUMENT);
      if (opened && 'node' in opened) params.set(NODE, opened.node);
      if (opened && 'document' in opened) params.set(DOCUMENT, opened.document);
      const text = params.toString();
      return text ? `${path}?${text}` : path;
    },
    [path, search],
  );
}

// A filter is a set of words under a name; the empty set does not filter.
export type Values = Readonly<Record<string, readonly string[]>>;

export interface Filters {
  values: Values;
  one: (name: string) => string;
  set: (change: Values) => void;
}

// The same object as long as the filters are the same: lists and timers depend on it.
export function useFilters(names: readonly string[]): Filters {
  const [params, setParams] = useSearchParams();
  const key = JSON.stringify(names.map((name) => params.getAll(name)));
  return useMemo(() => {
    const found = JSON.parse(key) as string[][];
    const values: Values = Object.fromEntries(names.map((name, index) => [name, found[index] ?? []]));
    return {
      values,
      one: (name) => values[name]?.[0] ?? '',
      set: (change) => {
        setParams((before) => changed(before, change), { replace: true });
      },
    };
  }, [key, names, setParams]);
}

export function anyFilter({ values }: Filters, except: readonly string[] = []): boolean {
  return Object.entries(values).some(([name, chosen]) => chosen.length > 0 && !except.includes(name));
}

function changed(before: URLSearchParams, change: Values): URLSearchParams {
  const params = new URLSearchParams(before);
  for (const [name, chosen] of Object.entries(change)) {
    params.delete(name);
    for (const value of chosen) if (value !== '') params.append(name, value);
  }
  return params;
}
