// What the list of operations shows of each, and the two columns that it can be sorted by.
import { useCallback } from 'react';
import type { Column } from '../live/Rows';
import { Id, Nothing, Badge } from '../ui/parts';
import { Countdown, Due, Time, useTicking } from '../ui/time';
import { DEFER_MEANING, SEND_MEANING, words } from '../ui/words';
import type { Sort } from './filters';
import type { Operation } from './source';

export function operationColumns(sort: Sort, setSort: (sort: Sort) => void): readonly Column<Operation>[] {
  const sortable = (title: string, up: Sort, down: Sort): Pick<Column<Operation>, 'title' | 'head' | 'sorted'> => ({
    title,
    ...(sort === up && { sorted: 'ascending' as const }),
    ...(sort === down && { sorted: 'descending' as const }),
    head: (
      <button
        type="button"
        className="sort"
        onClick={() => {
          setSort(sort === down ? up : down);
        }}
      >
        {title} <span aria-hidden="true">{sort === down ? '↓' : sort === up ? '↑' : '↕'}</span>
      </button>
    ),
  });
  return [
    ...FIXED,
    {
      ...sortable('Created', 'CREATED_ASC', 'CREATED_DESC'),
      width: '6.5rem',
      from: 1300,
      cell: ({ item }) => <Time at={item.createdAt} />,
    },
    {
      ...sortable('Updated', 'UPDATED_ASC', 'UPDATED_DESC'),
      width: '6.5rem',
      card: 'aside',
      cell: ({ item }) => <Time at={item.updatedAt} />,
    },
  ];
}

const FIXED: readonly Column<Operation>[] = [
  {
    title: 'State',
    width: '9.5rem',
    card: 'lead',
    cell: ({ item }) => (
      <>
        <Badge state={item.state} />
        <Remark operation={item} />
      </>
    ),
  },
  {
    title: 'Operation',
    width: 'minmax(10.5rem, 2fr)',
    card: 'title',
    cell: ({ item }) => (
      <>
        <strong>
          {words(item.op)} {item.model}
        </strong>
        <small>
          <Id value={item.operationId} />
        </small>
      </>
    ),
  },
  { title: 'Connector', width: 'minmax(6rem, 1fr)', cell: ({ item }) => item.connectorName },
  { title: 'Summary', width: '', card: 'more', from: Infinity, cell: ({ item }) => summary(item) },
  {
    title: 'Document',
    width: 'minmax(8rem, 1.5fr)',
    from: 1000,
    cell: ({ item }) => (item.documentId === null ? <Nothing /> : <Id value={item.documentId} />),
  },
  {
    title: 'Owner',
    width: 'minmax(9rem, 1.2fr)',
    from: 1180,
    cell: ({ item }) => (
      <>
        <Id value={item.ownerDid} />
        {item.ownerDid !== item.callerDid && (
          <small>
            by <Id value={item.callerDid} />
          </small>
        )}
      </>
    ),
  },
  { title: 'Tries', width: '3.5rem', numeric: true, from: 640, cell: ({ item }) => item.attempts },
  { title: 'Next attempt', width: '8.5rem', from: 730, cell: ({ item }) => <NextAttempt operation={item} /> },
  { title: 'Last answer', width: '8rem', from: 860, cell: ({ item }) => <LastAnswer operation={item} /> },
];

// The last line of a card.
function summary({ connectorName, attempts, lastKind, lastHttpStatus }: Operation): string {
  const tries = `${String(attempts)} ${attempts === 1 ? 'try' : 'tries'}`;
  return [connectorName, tries, lastKind, lastHttpStatus && `HTTP ${String(lastHttpStatus)}`].filter(Boolean).join(' · ');
}

// What the state alone does not say about an operation that is under way.
function Remark({ operation: { state, deferReason, sendState } }: { operation: Operation }) {
  if (state !== 'ATTEMPTED') return null;
  if (deferReason !== null) return <small>{DEFER_MEANING[deferReason]}</small>;
  return sendState === 'UNSENT' ? null : <small title={SEND_MEANING[sendState]}>send {words(sendState)}</small>;
}

function NextAttempt({ operation: { state, nextAttemptAt, lease } }: { operation: Operation }) {
  if (state !== 'ATTEMPTED') return <Nothing />;
  return (
    <>
      {nextAttemptAt === null ? 'due' : <Due at={nextAttemptAt} />}
      {lease && <LeaseLeft at={lease.expiresAt} />}
    </>
  );
}

function LeaseLeft({ at }: { at: string }) {
  const live = useTicking(useCallback((now: number) => String(Date.parse(at) > now), [at]));
  return (
    <small>
      {live === 'true' ? (
        <>
          in work <Countdown at={at} />
        </>
      ) : (
        'lease expired'
      )}
    </small>
  );
}

function LastAnswer({ operation: { lastKind, lastHttpStatus } }: { operation: Operation }) {
  if (lastKind === null && lastHttpStatus === null) return <Nothing />;
  return (
    <>
      {lastKind}
      {lastHttpStatus !== null && <small>HTTP {lastHttpStatus}</small>}
    </>
  );
}
