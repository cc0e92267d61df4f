// The visible rows of a live list, placed by a virtualizer; pages are read before they come into sight. Where there is no
// room for a table, each row is a card.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, type ReactNode, type RefObject } from 'react';
import { useWidth } from '../ui/useWidth';
import type { ListState, Row } from './list';
import { TableRow } from './TableRow';
import { useRowKeys } from './useRowKeys';

export interface Column<Item> {
  title: string;
  // What is said of the column's order, with the control that changes it.
  head?: ReactNode;
  sorted?: 'ascending' | 'descending';
  // A width as in grid-template-columns.
  width: string;
  // The column is shown only in a list at least this wide, in pixels; Infinity: in cards alone.
  from?: number;
  // Its place in a card. Without one, cards do not show it.
  card?: 'lead' | 'title' | 'aside' | 'more';
  numeric?: boolean;
  cell(row: Row<Item>): ReactNode;
}

export interface RowsProps<Item> {
  name: string;
  list: ListState<Item>;
  scroller: RefObject<HTMLDivElement | null>;
  columns: readonly Column<Item>[];
  hrefOf: (item: Item) => string | undefined;
  isOpen: (item: Item) => boolean;
  label: (item: Item) => string;
  readOlder: () => void;
  readNewer: () => void;
  rowHeight?: number;
}

const ROW_PX = 44;
const CARD_PX = 92;
const CARDS_BELOW_PX = 620;
const OVERSCAN = 14;
// Rows that are read before they are seen: a few at rest, many once somebody scrolls.
const AHEAD_AT_REST = 40;
const AHEAD_SCROLLING = 250;
const SKELETONS = 12;

export function Rows<Item>(props: RowsProps<Item>) {
  const { name, list, scroller, hrefOf, isOpen, label } = props;
  const { cards, height, shown } = useShape(props);
  const template = shown.map((column) => column.width).join(' ');
  const end = list.base + list.rows.length;
  // eslint-disable-next-line react-hooks/incompatible-library -- the page is not compiled by React's compiler
  const virtual = useVirtualizer({
    count: end + (list.hasMore ? SKELETONS : 0),
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
  });
  useLayoutEffect(() => {
    virtual.measure();
  }, [virtual, height]);
  useKeptPlace(scroller, list.moved, height);

  const items = virtual.getVirtualItems();
  useReading(props, (virtual.scrollOffset ?? 0) > 0, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);

  const onKeyDown = useRowKeys(virtual, end);
  return (
    <div
      ref={scroller}
      className="rows"
      role="table"
      aria-label={name}
      aria-rowcount={list.hasMore ? -1 : end + 1}
      aria-busy={list.phase === 'loading'}
      data-cards={cards || undefined}
      data-empty={end === 0 || undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <Head columns={shown} template={template} />
      <div role="rowgroup" className="row-space" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = list.rows[index - list.base];
          return row === undefined ? (
            <Skeleton key={index} height={height} start={start} />
          ) : (
            <TableRow
              key={row.id}
              row={row}
              index={index}
              start={start}
              height={height}
              columns={shown}
              template={template}
              label={label(row.item)}
              href={hrefOf(row.item)}
              open={isOpen(row.item)}
            />
          );
        })}
      </div>
    </div>
  );
}

// What the room allows: which columns there are, or that rows are cards.
function useShape<Item>({ scroller, columns, rowHeight = ROW_PX }: RowsProps<Item>) {
  const width = useWidth(scroller, window.innerWidth);
  const cards = width < CARDS_BELOW_PX;
  const shown = columns.filter(({ from = 0, card }) => (cards ? card !== undefined : width >= from));
  return { cards, height: cards ? CARD_PX : rowHeight, shown };
}

// A row that is not read yet.
function Skeleton({ height, start }: { height: number; start: number }) {
  return <div className="row skeleton" style={{ height, transform: `translateY(${String(start)}px)` }} />;
}

// Reads the next rows before they come into sight, from `top` to `bottom` being what is in the page.
function useReading<Item>(props: RowsProps<Item>, scrolling: boolean, top: number, bottom: number): void {
  const { list, readOlder, readNewer } = props;
  const ahead = scrolling ? AHEAD_SCROLLING : AHEAD_AT_REST;
  const ready = list.phase === 'ready';
  const wantsNewer = ready && list.hasNewer && top < list.base + ahead;
  const wantsOlder = ready && list.hasMore && bottom > list.base + list.rows.length - ahead;
  useEffect(() => {
    if (wantsNewer) readNewer();
    else if (wantsOlder) readOlder();
  }, [wantsNewer, wantsOlder, readNewer, readOlder]);
}

function Head<Item>({ columns, template }: { columns: readonly Column<Item>[]; template: string }) {
  return (
    <div role="rowgroup" className="head">
      <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map((column) => (
          <div
            key={column.title}
            role="columnheader"
            aria-sort={column.sorted}
            className={column.numeric ? 'numeric' : undefined}
          >
            {column.head ?? column.title}
          </div>
        ))}
      </div>
    </div>
  );
}

// When more or fewer rows came above than had been cut there, the ones in sight stay in sight.
function useKeptPlace(scroller: RefObject<HTMLElement | null>, moved: number, height: number): void {
  const before = useRef(moved);
  useLayoutEffect(() => {
    // A list that is read from its top begins to count anew.
    if (moved !== 0) scroller.current?.scrollBy({ top: (moved - before.current) * height, behavior: 'instant' });
    before.current = moved;
  }, [scroller, moved, height]);
}
