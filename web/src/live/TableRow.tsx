// One row of a live list. It lights up when a change has just brought it.
import { memo } from 'react';
import { Link } from 'wouter';
import type { Row } from './list';
import type { Column } from './Rows';

interface Props {
  row: Row<unknown>;
  index: number;
  start: number;
  height: number;
  columns: readonly Column<never>[];
  template: string;
  label: string;
  href: string | undefined;
  open: boolean;
}

export const TableRow = memo(
  function TableRow({ row, index, start, height, columns, template, label, href, open }: Props) {
    return (
      <div
        role="row"
        aria-rowindex={index + 2}
        className="row"
        data-id={row.id}
        data-index={index}
        data-leaving={!row.fits || undefined}
        data-open={open || undefined}
        style={{ height, transform: `translateY(${String(start)}px)`, gridTemplateColumns: template }}
      >
        {row.latest && <span key={row.latest.cursor} className="fresh" aria-hidden="true" />}
        {columns.map((column, place) => (
          <div
            key={column.title}
            role="cell"
            data-card={column.card}
            data-title={column.title}
            className={column.numeric ? 'numeric' : undefined}
          >
            {place === 0 && href !== undefined && (
              <Link href={href} className="opener" aria-label={label} aria-current={open || undefined} />
            )}
            {column.cell(row as Row<never>)}
          </div>
        ))}
      </div>
    );
  },
  // Columns are made anew at each rendering of a list, but for the same template they are the same.
  (before, after) =>
    before.row === after.row &&
    before.index === after.index &&
    before.start === after.start &&
    before.height === after.height &&
    before.template === after.template &&
    before.href === after.href &&
    before.open === after.open,
);
