// Shows a live list as a table: its rows, what waits to come in, its empty state, its errors and its older pages.
import { memo, useRef, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useOpenHref, useOpenId } from '../ui/address';
import { Nothing, Trouble } from '../ui/parts';
import { Time } from '../ui/time';
import { words } from '../ui/words';
import type { Row } from './list';
import { useLiveList, type Source } from './useLiveList';

export interface Column<Item> {
  title: string;
  // Narrow screens show rows as cards and this column without its title.
  bare?: boolean;
  // Shown in a table only where there is plenty of room.
  wide?: boolean;
  // Shown in a table only: a card says it elsewhere.
  table?: boolean;
  numeric?: boolean;
  cell(row: Row<Item>): ReactNode;
}

interface Props<Item> {
  name: string;
  // The same object as long as the filter is the same: a new one is read anew.
  source: Source<Item>;
  columns: readonly Column<Item>[];
  // The node a row opens. undefined: nothing to open.
  opens: (item: Item) => string | undefined;
  label: (item: Item) => string;
  empty: ReactNode;
}

export function LiveTable<Item>({ name, source, columns, opens, label, empty }: Props<Item>) {
  const container = useRef<HTMLDivElement>(null);
  const { list, loadMore, reload, settle } = useLiveList(source, container);
  const openId = useOpenId();
  const openHref = useOpenHref();
  const bare = list.phase !== 'loading' && list.rows.length === 0 && list.waiting.length === 0 && !list.hasMore;
  return (
    <div className="live-list">
      <p className="waiting" role="status">
        {list.waiting.length > 0 && (
          <button type="button" onClick={settle}>
            {list.waiting.length} new – show
          </button>
        )}
      </p>
      {list.phase === 'failed' && <Trouble error={list.error} retry={reload} />}
      <div ref={container} className="rows" aria-busy={list.phase === 'loading'}>
        {list.rows.length > 0 && (
          <table>
            <caption className="unseen">{name}</caption>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.title} scope="col" className={classOf(column)}>
                    {column.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {list.rows.map((row) => {
                const id = opens(row.item);
                return (
                  <TableRow
                    key={row.id}
                    row={row}
                    columns={columns}
                    label={label(row.item)}
                    href={id === undefined ? undefined : openHref(id)}
                    open={id !== undefined && id === openId}
                  />
                );
              })}
            </tbody>
          </table>
        )}
        {bare && list.phase === 'ready' && empty}
      </div>
      {list.phase === 'loading' && list.rows.length === 0 && <p className="hint">Reading…</p>}
      {list.rows.length > 0 && list.hasMore && (
        <button type="button" className="more" disabled={list.phase === 'loading'} onClick={loadMore}>
          {list.phase === 'loading' ? 'Reading…' : 'Load more'}
        </button>
      )}
    </div>
  );
}

function classOf({ numeric, wide, table }: Column<never>): string {
  return [numeric && 'numeric', wide && 'wide', table && 'table-only'].filter(Boolean).join(' ');
}

interface RowProps {
  row: Row<unknown>;
  columns: readonly Column<unknown>[];
  label: string;
  href: string | undefined;
  open: boolean;
}

const TableRow = memo(function TableRow({ row, columns, label, href, open }: RowProps) {
  return (
    <tr data-id={row.id} data-leaving={!row.fits || undefined} data-open={open || undefined}>
      {columns.map((column, index) => (
        <td
          key={column.title}
          data-title={column.bare ? undefined : column.title}
          className={classOf(column)}
        >
          {index === 0 && href !== undefined && (
            <Link href={href} className="opener" aria-label={label} aria-current={open || undefined} />
          )}
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
});

// What happened last. It lights up when it is new: the key makes it a new element.
export function LatestChange({ row: { latest, live } }: { row: Row<unknown> }) {
  if (!latest) return <Nothing />;
  return (
    <>
      <span key={latest.cursor} className="latest" data-fresh={live || undefined}>
        {words(latest.transition)}
      </span>
      <small>
        <Time at={latest.at} />
      </small>
    </>
  );
}
