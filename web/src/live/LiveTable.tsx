// Shows a live list as a table of which only the visible rows are in the page: however many rows there are, scrolling
// costs the same. Says what waits to come in, and holds still when it is asked to.
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Trouble } from '../ui/parts';
import { ROOM, type Row } from './list';
import { Rows, type Column } from './Rows';
import { useHold, useSettling } from './useHold';
import { useLiveList, type Source } from './useLiveList';

interface Props<Item> {
  name: string;
  // The same object as long as the filter is the same: a new one is read anew.
  source: Source<Item>;
  columns: readonly Column<Item>[];
  // The address that a row opens, and the row's id in it. undefined: nothing to open.
  hrefOf: (item: Item) => string | undefined;
  isOpen: (item: Item) => boolean;
  label: (item: Item) => string;
  empty: ReactNode;
  // The filters, over the list.
  bar?: ReactNode;
  // What stands beside the button that pauses.
  tools?: ReactNode | ((rows: readonly Row<Item>[]) => ReactNode);
  rowHeight?: number;
}

export function LiveTable<Item>({ source, empty, bar, tools, ...rest }: Props<Item>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [paused, setPaused] = useState(false);
  // The announcement of what waits lies over the rows, so a pointer on it is a pointer in the list.
  const body = useRef<HTMLDivElement>(null);
  const isHeld = useHold(body, scroller, paused);
  const { list, readOlder, readNewer, reload, settle } = useLiveList(source, isHeld);
  useSettling(body, scroller, isHeld, settle);
  const [shown, setShown] = useState(source);
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [shown]);
  if (list.phase === 'ready' && shown !== source) setShown(source);

  const letIn = (): void => {
    scroller.current?.scrollTo({ top: 0 });
    if (list.hasNewer || list.elsewhere > 0) reload();
    else settle();
  };
  const bare = list.phase === 'ready' && list.rows.length === 0 && list.waiting.length === 0 && !list.hasMore;
  return (
    <div className="live-list">
      <div className="list-bar">
        {bar}
        <div className="list-tools">
          {typeof tools === 'function' ? tools(list.rows) : tools}
          <button
            type="button"
            className="pause"
            aria-pressed={paused}
            onClick={() => {
              setPaused(!paused);
              if (paused) letIn();
            }}
          >
            {paused ? 'Resume' : 'Pause'}
          </button>
        </div>
      </div>
      {list.phase === 'failed' && <Trouble error={list.error} retry={list.rows.length > 0 ? readOlder : reload} />}
      <div ref={body} className="list-body">
        <p className="waiting" role="status">
          {(list.waiting.length > 0 || list.elsewhere > 0) && (
            <button type="button" onClick={letIn}>
              {announce(list.waiting.length, list.elsewhere)}
            </button>
          )}
        </p>
        {bare && <div className="rows-empty">{empty}</div>}
        <Rows {...rest} list={list} scroller={scroller} readOlder={readOlder} readNewer={readNewer} />
      </div>
    </div>
  );
}

function announce(waiting: number, elsewhere: number): string {
  const fresh = waiting >= ROOM ? `${String(ROOM)}+ new` : `${String(waiting)} new`;
  if (elsewhere === 0) return `${fresh} – show`;
  return waiting === 0 ? 'The list has changed – read it again' : `${fresh}, and others moved – show`;
}
