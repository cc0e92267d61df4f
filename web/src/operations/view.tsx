// The list of operations, newest updated first.
import { useMemo } from 'react';
import { LatestChange, LiveTable, type Column } from '../live/LiveTable';
import { useFilters } from '../ui/address';
import { FilterBar } from '../ui/filter-bar';
import { Badge, Id, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { DEFER_MEANING, SEND_MEANING, words } from '../ui/words';
import { FirstOperation, NoMatch } from './empty';
import { STATES, operationSource, type Operation } from './source';

const COLUMNS: readonly Column<Operation>[] = [
  {
    title: 'State',
    bare: true,
    cell: ({ item }) => (
      <>
        <Badge state={item.state} />
        <Remark operation={item} />
      </>
    ),
  },
  {
    title: 'Operation',
    bare: true,
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
  { title: 'Connector', cell: ({ item }) => item.connectorName },
  {
    title: 'Document',
    wide: true,
    cell: ({ item }) => (item.documentId === null ? <Nothing /> : <Id value={item.documentId} />),
  },
  {
    title: 'Caller / owner',
    wide: true,
    cell: ({ item }) => (
      <>
        <Id value={item.callerDid} />
        {item.ownerDid !== item.callerDid && (
          <small>
            for <Id value={item.ownerDid} />
          </small>
        )}
      </>
    ),
  },
  { title: 'Attempts', numeric: true, cell: ({ item }) => item.attempts },
  { title: 'Next attempt', cell: ({ item }) => <NextAttempt operation={item} /> },
  { title: 'Latest change', cell: (row) => <LatestChange row={row} /> },
  { title: 'Updated', table: true, cell: ({ item }) => <Time at={item.updatedAt} /> },
];

// What the state alone does not say about an operation that is under way.
function Remark({ operation: { state, deferReason, sendState } }: { operation: Operation }) {
  if (state !== 'ATTEMPTED') return null;
  return (
    <>
      {deferReason !== null && <small>{DEFER_MEANING[deferReason]}</small>}
      {sendState !== 'UNSENT' && <small title={SEND_MEANING[sendState]}>send {words(sendState)}</small>}
    </>
  );
}

function NextAttempt({ operation: { state, nextAttemptAt } }: { operation: Operation }) {
  if (state !== 'ATTEMPTED') return <Nothing />;
  return nextAttemptAt === null ? 'at once' : <Due at={nextAttemptAt} />;
}

export function OperationsView() {
  const filters = useFilters();
  const source = useMemo(() => operationSource(filters), [filters]);
  const filtered = filters.states.length > 0 || filters.connector !== '';
  return (
    <main id="main">
      <div className="heading">
        <h1>Operations</h1>
        <FilterBar filters={filters} states={STATES} />
      </div>
      <LiveTable
        name="Operations, newest updated first"
        source={source}
        columns={COLUMNS}
        opens={({ id }) => id}
        label={({ op, model, operationId }) => `${words(op)} ${model} ${operationId}`}
        empty={filtered ? <NoMatch what="operation" /> : <FirstOperation />}
      />
    </main>
  );
}
