// A live list as a pure state machine: rows read page by page, kept current by changes. Newest on top.
//
// While the list is held (the pointer or the keyboard is in it, it is scrolled, or it is paused) nothing moves: rows
// change in place, new ones wait and rows that left the filter stay. `settle` lets them in and out.
//
// It holds a window of the server's rows: whoever scrolls through a million does not keep a million. What is cut off at
// one end is read again when the window comes back to it.
export interface Row<Item> {
  id: string;
  item: Item;
  // Orders two readings of one row: the later one is the truer one.
  at: string;
  // What happened last, where the row came by a change.
  latest: Latest | undefined;
  // Whether the row still belongs here by the list's filter.
  fits: boolean;
  // Where a row that is not listed yet belongs: on top, somewhere further down that only the server knows, or nowhere.
  place: 'top' | 'elsewhere' | 'nowhere';
  // The row's place in the server's order. A row that came by a change has none.
  cursor: string | undefined;
}

export interface Latest {
  cursor: string;
  transition: string;
}

export interface Page<Item> {
  rows: readonly Row<Item>[];
  // Beyond this page, in the direction in which it was read.
  hasMore: boolean;
}

export interface ListState<Item> {
  phase: 'loading' | 'ready' | 'failed';
  error: unknown;
  // How many rows of the list were above these and are held no more.
  base: number;
  rows: readonly Row<Item>[];
  waiting: readonly Row<Item>[];
  // How many changes belong somewhere in the list where only the server can put them.
  elsewhere: number;
  // More rows waited than there is room for, so those below are no longer their neighbours.
  torn: boolean;
  hasMore: boolean;
  hasNewer: boolean;
  // By how many rows the held ones stand lower than at first, because more or fewer came above them than had been cut.
  moved: number;
}

export type ListAction<Item> =
  | { kind: 'reading' }
  | { kind: 'failed'; error: unknown; clear: boolean }
  | { kind: 'first'; page: Page<Item> }
  | { kind: 'more'; page: Page<Item> }
  | { kind: 'newer'; page: Page<Item> }
  | { kind: 'changed'; rows: readonly Row<Item>[]; elsewhere: number; held: boolean }
  | { kind: 'settle' };

export const ROOM = 3_000;
// The space that is kept above the window while nobody knows how many rows are there.
const UNKNOWN_ABOVE = 100;

export function emptyList<Item>(): ListState<Item> {
  return {
    phase: 'loading',
    error: undefined,
    base: 0,
    rows: [],
    waiting: [],
    elsewhere: 0,
    torn: false,
    hasMore: false,
    hasNewer: false,
    moved: 0,
  };
}

export function reduce<Item>(state: ListState<Item>, action: ListAction<Item>): ListState<Item> {
  switch (action.kind) {
    case 'reading':
      return { ...state, phase: 'loading', error: undefined };
    case 'failed':
      return { ...(action.clear ? emptyList<Item>() : state), phase: 'failed', error: action.error };
    case 'first':
      return { ...emptyList<Item>(), phase: 'ready', ...action.page };
    case 'more':
      return below(state, action.page);
    case 'newer':
      return above(state, action.page);
    case 'changed': {
      const changed = change(state, action.rows, action.elsewhere);
      return action.held ? changed : settle(changed);
    }
    case 'settle':
      return settle(state);
  }
}

function below<Item>(state: ListState<Item>, page: Page<Item>): ListState<Item> {
  const rows = [...state.rows, ...unknown(state, page)];
  const cut = Math.max(0, rows.length - ROOM);
  return {
    ...state,
    phase: 'ready',
    rows: rows.slice(cut),
    base: state.base + cut,
    hasNewer: state.hasNewer || cut > 0,
    hasMore: page.hasMore,
  };
}

function above<Item>(state: ListState<Item>, page: Page<Item>): ListState<Item> {
  const found = unknown(state, page);
  const rows = [...found, ...state.rows];
  const base = page.hasMore ? Math.max(UNKNOWN_ABOVE, state.base - found.length) : 0;
  return {
    ...state,
    phase: 'ready',
    rows: rows.slice(0, ROOM),
    base,
    hasNewer: page.hasMore,
    hasMore: state.hasMore || rows.length > ROOM,
    moved: state.moved + base + found.length - state.base,
  };
}

function unknown<Item>(state: ListState<Item>, page: Page<Item>): Row<Item>[] {
  const known = new Set([...state.rows, ...state.waiting].map((row) => row.id));
  return page.rows.filter((row) => !known.has(row.id));
}

function change<Item>(state: ListState<Item>, changed: readonly Row<Item>[], elsewhere: number): ListState<Item> {
  const rows = [...state.rows];
  const placeOf = new Map(rows.map((row, index) => [row.id, index]));
  const waiting = new Map(state.waiting.map((row) => [row.id, row]));
  const fresh: Row<Item>[] = [];
  let further = elsewhere;
  for (const row of changed) {
    const place = placeOf.get(row.id);
    const waits = waiting.get(row.id);
    const known = place === undefined ? undefined : rows[place];
    if (place !== undefined && known) rows[place] = later(known, row);
    else if (waits) waiting.set(row.id, later(waits, row));
    else if (row.fits && row.place === 'top') {
      waiting.set(row.id, row);
      fresh.unshift(row);
    } else if (row.fits && row.place === 'elsewhere') further += 1;
  }
  const older = state.waiting.map(({ id }) => id);
  const order = [...fresh.map(({ id }) => id), ...older];
  const stillWaiting = order.map((id) => waiting.get(id)).filter((row) => row?.fits === true) as Row<Item>[];
  return {
    ...state,
    rows,
    waiting: stillWaiting.slice(0, ROOM),
    torn: state.torn || stillWaiting.length > ROOM,
    elsewhere: state.elsewhere + further,
  };
}

// The cursor goes with the reading it came from: the server's order has moved on since.
function later<Item>(known: Row<Item>, row: Row<Item>): Row<Item> {
  return known.at > row.at ? known : { ...row, cursor: known.cursor };
}

// A window that does not begin at the top stays as it is: what waits belongs above it.
function settle<Item>(state: ListState<Item>): ListState<Item> {
  if (state.hasNewer) return state;
  if (state.waiting.length === 0 && state.rows.every(({ fits }) => fits)) return state;
  const staying = state.torn ? [] : state.rows.filter(({ fits }) => fits);
  const rows = [...state.waiting, ...staying];
  return {
    ...state,
    rows: rows.slice(0, ROOM),
    waiting: [],
    torn: false,
    hasMore: state.hasMore || state.torn || rows.length > ROOM,
  };
}

// Where the next page starts. undefined: no row has a place in the server's order, so the list is read from its top.
export function lastCursor<Item>({ rows }: ListState<Item>): string | undefined {
  return rows.findLast(({ cursor }) => cursor !== undefined)?.cursor;
}

export function firstCursor<Item>({ rows }: ListState<Item>): string | undefined {
  return rows.find(({ cursor }) => cursor !== undefined)?.cursor;
}
