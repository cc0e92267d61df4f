// A live list as a pure state machine: rows read page by page, kept current by changes. Newest on top.
//
// While the list is held (the pointer or the keyboard is in it) nothing moves: rows change in place, new ones wait and
// rows that left the filter stay. `settle` lets them in and out.
export interface Row<Item> {
  id: string;
  item: Item;
  // Orders two readings of one row: the later one is the truer one.
  at: string;
  latest: Latest | undefined;
  // Whether the row still belongs here by the list's filter.
  fits: boolean;
  // The row's place in the server's order. A row that came by a change has none.
  cursor: string | undefined;
  // It came, or came anew, by a change while the page was open.
  live: boolean;
}

export interface Latest {
  cursor: string;
  at: string;
  transition: string;
  fromState: string | null;
  toState: string | null;
}

export interface Page<Item> {
  rows: readonly Row<Item>[];
  hasMore: boolean;
}

export interface ListState<Item> {
  phase: 'loading' | 'ready' | 'failed';
  error: unknown;
  rows: readonly Row<Item>[];
  waiting: readonly Row<Item>[];
  // More rows waited than there is room for, so those below are no longer their neighbours.
  torn: boolean;
  hasMore: boolean;
  // The list may hold this many rows; more than that are cut off at the old end.
  room: number;
}

export type ListAction<Item> =
  | { kind: 'reading' }
  | { kind: 'failed'; error: unknown }
  | { kind: 'first'; page: Page<Item> }
  | { kind: 'more'; page: Page<Item> }
  | { kind: 'changed'; rows: readonly Row<Item>[]; held: boolean }
  | { kind: 'settle' };

const LIVE_ROOM = 200;

export function emptyList<Item>(): ListState<Item> {
  return { phase: 'loading', error: undefined, rows: [], waiting: [], torn: false, hasMore: false, room: LIVE_ROOM };
}

export function reduce<Item>(state: ListState<Item>, action: ListAction<Item>): ListState<Item> {
  switch (action.kind) {
    case 'reading':
      return { ...state, phase: 'loading', error: undefined };
    case 'failed':
      return { ...state, phase: 'failed', error: action.error };
    case 'first': {
      const { rows, hasMore } = action.page;
      return { ...emptyList<Item>(), phase: 'ready', rows, hasMore, room: rows.length + LIVE_ROOM };
    }
    case 'more': {
      const known = new Set([...state.rows, ...state.waiting].map((row) => row.id));
      const older = action.page.rows.filter((row) => !known.has(row.id));
      const room = state.room + older.length;
      return { ...state, phase: 'ready', rows: [...state.rows, ...older], hasMore: action.page.hasMore, room };
    }
    case 'changed': {
      const changed = action.rows.reduce(change, state);
      return action.held ? changed : settle(changed);
    }
    case 'settle':
      return settle(state);
  }
}

function change<Item>(state: ListState<Item>, row: Row<Item>): ListState<Item> {
  if (state.rows.some(({ id }) => id === row.id)) return { ...state, rows: replace(state.rows, row) };
  if (state.waiting.some(({ id }) => id === row.id)) {
    return { ...state, waiting: replace(state.waiting, row).filter(({ fits }) => fits) };
  }
  if (!row.fits) return state;
  const torn = state.torn || state.waiting.length >= state.room;
  return { ...state, torn, waiting: [row, ...state.waiting].slice(0, state.room) };
}

// The cursor goes with the reading it came from: the server's order has moved on since.
function replace<Item>(rows: readonly Row<Item>[], by: Row<Item>): Row<Item>[] {
  return rows.map((row) => (row.id !== by.id || row.at > by.at ? row : { ...by, cursor: row.cursor }));
}

function settle<Item>(state: ListState<Item>): ListState<Item> {
  const staying = state.torn ? [] : state.rows.filter(({ fits }) => fits);
  const rows = [...state.waiting, ...staying];
  const hasMore = state.hasMore || state.torn || rows.length > state.room;
  return { ...state, rows: rows.slice(0, state.room), waiting: [], torn: false, hasMore };
}

// Where the next page starts. undefined: no row has a place in the server's order, so the list is read from its top.
export function nextPage<Item>({ rows }: ListState<Item>): string | undefined {
  return rows.at(-1)?.cursor;
}
