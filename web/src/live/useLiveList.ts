// Connects a list's state machine to the server: reads its pages, feeds it the changes, and holds it still while the
// pointer or the keyboard is in it.
import { useCallback, useEffect, useReducer, useRef, type RefObject } from 'react';
import { feed, type FeedChange } from './feed';
import { emptyList, nextPage, reduce, type ListAction, type ListState, type Page, type Row } from './list';

export interface Source<Item> {
  // One page, newest first; without a cursor the newest.
  read: (cursor: string | undefined) => Promise<Page<Item>>;
  // The row that a change is about, if it is one of this list's kind; 'gone' when it was removed.
  fromChange: (change: FeedChange) => Row<Item> | 'gone' | undefined;
}

export interface LiveList<Item> {
  list: ListState<Item>;
  loadMore: () => void;
  reload: () => void;
  settle: () => void;
}

export function useLiveList<Item>(source: Source<Item>, container: RefObject<HTMLElement | null>): LiveList<Item> {
  const [list, dispatch] = useReducer(reduce<Item>, undefined, emptyList<Item>);
  const reader = useRef<Reader>(undefined);
  useEffect(() => {
    const following = new Following(source, dispatch, () => isHeld(container.current));
    reader.current = following;
    return () => {
      following.stop();
    };
  }, [source, container]);

  const reload = useCallback(() => reader.current?.readFirst(), []);
  const cursor = nextPage(list);
  const loadMore = useCallback(() => reader.current?.readMore(cursor), [cursor]);
  const settle = useCallback(() => {
    dispatch({ kind: 'settle' });
  }, []);
  useSettling(container, settle);

  // Every row left the filter, but the server has more that fit.
  const ranDry = list.phase === 'ready' && list.rows.length === 0 && list.hasMore;
  useEffect(() => {
    if (ranDry) reload();
  }, [ranDry, reload]);

  return { list, loadMore, reload, settle };
}

interface Reader {
  readFirst(): void;
  readMore(cursor: string | undefined): void;
}

// One source followed: its first page is read now and whenever the feed restarts. What changes while that page is on
// its way is kept and applied after it, because the page may be older.
class Following<Item> implements Reader {
  #early: Row<Item>[] | undefined = [];
  // Which reading is the current one: the answers of earlier ones come too late and are dropped.
  #reading = 0;
  #failed = false;
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
    this.#early ??= [];
    this.#read(undefined, (page) => {
      this.dispatch({ kind: 'first', page });
    });
  }

  readMore(cursor: string | undefined): void {
    if (cursor === undefined) this.readFirst();
    else
      this.#read(cursor, (page) => {
        this.dispatch({ kind: 'more', page });
      });
  }

  stop(): void {
    this.#reading = -1;
    this.#stopListening();
  }

  #read(cursor: string | undefined, arrived: (page: Page<Item>) => void): void {
    const mine = ++this.#reading;
    this.#failed = false;
    this.dispatch({ kind: 'reading' });
    const settled = (act: () => void): void => {
      if (mine !== this.#reading) return;
      act();
      if (this.#early) this.dispatch({ kind: 'changed', rows: this.#early, held: false });
      this.#early = undefined;
    };
    this.source.read(cursor).then(
      (page) => {
        settled(() => {
          arrived(page);
        });
      },
      (error: unknown) => {
        settled(() => {
          this.#failed = true;
          this.dispatch({ kind: 'failed', error });
        });
      },
    );
  }

  #changed(batch: readonly FeedChange[]): void {
    const found = batch.map((change) => this.source.fromChange(change));
    // A removed row cannot be told from its change: nothing is left to read its id from.
    if (found.includes('gone')) {
      this.readFirst();
      return;
    }
    const rows = found.filter((row) => row !== undefined && row !== 'gone');
    if (rows.length === 0) return;
    if (this.#early) this.#early.push(...rows);
    else this.dispatch({ kind: 'changed', rows, held: this.held() });
  }
}

// A finger leaves no pointer behind, so on a touch screen only the keyboard holds a list.
function isHeld(element: HTMLElement | null): boolean {
  if (!element) return false;
  const pointed = matchMedia('(hover: hover)').matches && element.matches(':hover');
  return pointed || element.querySelector(':focus-visible') !== null;
}

function useSettling(container: RefObject<HTMLElement | null>, settle: () => void): void {
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    // The focus has not arrived where it goes when focusout is sent.
    const later = (): void => {
      setTimeout(() => {
        if (!isHeld(element)) settle();
      });
    };
    element.addEventListener('pointerleave', later);
    element.addEventListener('focusout', later);
    return () => {
      element.removeEventListener('pointerleave', later);
      element.removeEventListener('focusout', later);
    };
  }, [container, settle]);
}
