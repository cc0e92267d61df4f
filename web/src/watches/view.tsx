// The list of watches by their identity; what changes while the page is open and is not yet listed comes on top.
import { useMemo } from 'react';
import { LatestChange, LiveTable, type Column } from '../live/LiveTable';
import { NoMatch } from '../operations/empty';
import { useFilters } from '../ui/address';
import { FilterBar } from '../ui/filter-bar';
import { Badge, Id, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { DEFER_MEANING } from '../ui/words';
import { STATUSES, watchSource, type Watch } from './source';

const COLUMNS: readonly Column<Watch>[] = [
  {
    title: 'Status',
    bare: true,
    cell: ({ item }) => (
      <>
        <Badge state={item.status} />
        {item.deferReason !== null && <small>{DEFER_MEANING[item.deferReason]}</small>}
      </>
    ),
  },
  {
    title: 'Watched',
    bare: true,
    cell: ({ item }) => (
      <>
        <strong>{item.model}</strong>
        <small>
          <Id value={item.watchedSourceId} />
        </small>
      </>
    ),
  },
  { title: 'Connector', cell: ({ item }) => item.connectorName },
  { title: 'Document', wide: true, cell: ({ item }) => <Id value={item.watchedDocumentId} /> },
  { title: 'Owner', wide: true, cell: ({ item }) => <Id value={item.ownerDid} /> },
  { title: 'Checks', numeric: true, cell: ({ item }) => item.attempts },
  { title: 'Generation', numeric: true, cell: ({ item }) => item.generation },
  { title: 'Next check', cell: ({ item }) => <NextCheck watch={item} /> },
  { title: 'Latest change', cell: (row) => <LatestChange row={row} /> },
  { title: 'Updated', table: true, cell: ({ item }) => <Time at={item.updatedAt} /> },
];

function NextCheck({ watch: { nextAttemptAt, claimedUntil } }: { watch: Watch }) {
  if (nextAttemptAt === null) return <Nothing />;
  return (
    <>
      <Due at={nextAttemptAt} />
      {claimedUntil !== null && (
        <small>
          claim ends <Time at={claimedUntil} />
        </small>
      )}
    </>
  );
}

export function WatchesView() {
  const filters = useFilters();
  const source = useMemo(() => watchSource(filters), [filters]);
  const filtered = filters.states.length > 0 || filters.connector !== '';
  return (
    <main id="main">
      <div className="heading">
        <h1>Watches</h1>
        <FilterBar filters={filters} states={STATUSES} />
      </div>
      <LiveTable
        name="Watches"
        source={source}
        columns={COLUMNS}
        opens={({ id }) => id}
        label={({ model, watchedSourceId }) => `${model} ${watchedSourceId}`}
        empty={filtered ? <NoMatch what="watch" /> : <NoWatch />}
      />
    </main>
  );
}

function NoWatch() {
  return (
    <section className="empty">
      <h2>No watch yet</h2>
      <p>
        Finalizing an operation arms a watch: the connector then reads the provider again and records what it found, until
        the provider shows what the local store says. Finalize an operation, and its watch appears here.
      </p>
    </section>
  );
}
