// Connects a list's state machine to the server: reads its pages and feeds it the changes, which wait while it is held.
import { useCallback, useEffect, useReducer, useRef } from 'react';
import { feed, type FeedChange } from './feed';
import { emptyList, firstCursor, lastCursor, reduce, type ListAction, type ListState, type Page, type Row } from './list';

export type Place = { readonly after: string } | { readonly before: string } | undefined;

export interface Source<Item> {
  // One page in the list's order: the first, or the one after or before a cursor. `before` is asked for only if `back`.
  read: (place: Place) => Promise<Page<Item>>;
  // Whether the list can be read towards its top.
  back: boolean;
  // What a change means to this list: the row that it is about, `stale` when only the server can tell, or nothing.
  fromChange: (change: FeedChange) => Row<Item> | 'stale' | undefined;
}

export interface LiveList<Item> {
  list: ListState<Item>;
  readOlder: () => void;
  readNewer: () => void;
  reload: () => void;
  settle: () => void;
}

export function useLiveList<Item>(source: Source<Item>, isHeld: () => boolean): LiveList<Item> {
  const [list, dispatch] = useReducer(reduce<Item>, undefined, emptyList<Item>);
  const reader = useRef<Following<Item>>(undefined);
  useEffect(() => {
    const following = new Following(source, dispatch, isHeld);
    reader.current = following;
    return () => {
      following.stop();
    };
  }, [source, isHeld]);

  const reload = useCallback(() => reader.current?.readFirst(), []);
  const [last, first] = [lastCursor(list), firstCursor(list)];
  const readOlder = useCallback(() => reader.current?.readOlder(last), [last]);
  const readNewer = useCallback(() => reader.current?.readNewer(first), [first]);
  const settle = useCallback(() => {
    dispatch({ kind: 'settle' });
    reader.current?.release();
  }, []);

  // Every row left the filter, but the server has more that fit.
  const ranDry = list.phase === 'ready' && list.rows.length === 0 && list.hasMore;
  useEffect(() => {
    if (ranDry) reload();
  }, [ranDry, reload]);

  return { list, readOlder, readNewer, reload, settle };
}

// A list that only the server can order is read again this long after it changed, so that a burst is one reading.
const REREAD_MS = 1_000;
// And no sooner than so many times as long as the last reading took, so that reading is not what keeps the server busy.
const REREAD_FACTOR = 5;

// One source followed: its first page is read now and whenever the feed restarts. What changes while a page is on its
// way is kept and applied after it, because the page may be older.
class Following<Item> {
  #early: Row<Item>[] | undefined = [];
  // Which reading is the current one: the answers of earlier ones come too late and are dropped.
  #reading = 0;
  #failed = false;
  #stopped = false;
  #tookMs = 0;
  #everRead = false;
  // It changed where only the server can tell, and was held when it was to be read again.
  #owesReading = false;
  #rereading: ReturnType<typeof setTimeout> | undefined;
  readonly #stopListening: () => void;

  constructor(
    private readonly source: Source<Item>,
    private readonly dispatch: (action: ListAction<Item>) => void,
    private readonly held: () => boolean,
  ) {
    this.#stopListening = feed.listen({
      restarted: () => {
        this.readFirst();
      },
      changed: (batch) => {
        this.#changed(batch);
      },
      reached: () => {
        if (this.#failed) this.readFirst();
      },
    });
    if (feed.started) this.readFirst();
  }

  readFirst(): void {
    this.#owesReading = false;
    this.#early ??= [];
    this.#read(undefined, 'first');
  }

  readOlder(after: string | undefined): void {
    if (after === undefined) this.readFirst();
    else this.#read({ after }, 'more');
  }

  readNewer(before: string | undefined): void {
    if (before === undefined || !this.source.back) this.readFirst();
    else this.#read({ before }, 'newer');
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#rereading);
    this.#stopListening();
  }

  #read(place: Place, kind: 'first' | 'more' | 'newer'): void {
    const mine = ++this.#reading;
    this.#failed = false;
    this.dispatch({ kind: 'reading' });
    const begun = performance.now();
    const settled = (action: ListAction<Item>): void => {
      if (mine !== this.#reading || this.#stopped) return;
      this.dispatch(action);
      if (this.#early) this.dispatch({ kind: 'changed', rows: this.#early, elsewhere: 0, held: false });
      this.#early = undefined;
    };
    this.source.read(place).then(
      (page) => {
        this.#everRead = true;
        this.#tookMs = performance.now() - begun;
        settled({ kind, page });
      },
      (error: unknown) => {
        this.#failed = true;
        settled({ kind: 'failed', error, clear: !this.#everRead });
      },
    );
  }

  #changed(batch: readonly FeedChange[]): void {
    const found = batch.map((change) => this.source.fromChange(change));
    const rows = found.filter((row) => row !== undefined && row !== 'stale');
    const stale = found.filter((row) => row === 'stale').length;
    if (stale > 0) this.#rereadSoon();
    if (rows.length === 0 && stale === 0) return;
    if (this.#early) this.#early.push(...rows);
    else this.dispatch({ kind: 'changed', rows, elsewhere: stale, held: this.held() });
  }

  // The list is not held any more: what it could not be read for then is read now.
  release(): void {
    if (this.#owesReading) this.readFirst();
  }

  #rereadSoon(): void {
    this.#rereading ??= setTimeout(() => {
      this.#rereading = undefined;
      this.#owesReading = true;
      if (!this.held()) this.readFirst();
    }, Math.max(REREAD_MS, REREAD_FACTOR * this.#tookMs));
  }
}
