// The list of watches.
import { useMemo, useState } from 'react';
import { BulkDialog } from '../bulk/dialog';
import { LiveTable } from '../live/LiveTable';
import type { Column } from '../live/Rows';
import { NoMatch } from '../operations/empty';
import { anyFilter, sameOpened, useFilters, useOpened, useOpenHref } from '../ui/address';
import { FilterBar } from '../ui/filter-bar';
import { Badge, Id, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { DEFER_MEANING, STATE_MEANING } from '../ui/words';
import { DUE_FIELDS, FIELDS, NAMES, STATUSES, toFilter } from './filters';
import { dueSource, watchSource, type Watch } from './source';

const COLUMNS: readonly Column<Watch>[] = [
  {
    title: 'Status',
    width: '12.5rem',
    card: 'lead',
    cell: ({ item }) => (
      <>
        <Badge state={item.status} />
        {item.deferReason !== null && <small>{DEFER_MEANING[item.deferReason]}</small>}
      </>
    ),
  },
  {
    title: 'Watched',
    width: 'minmax(9rem, 2fr)',
    card: 'title',
    cell: ({ item }) => (
      <>
        <strong>{item.model}</strong>
        <small>
          <Id value={item.watchedSourceId} />
        </small>
      </>
    ),
  },
  { title: 'Connector', width: 'minmax(6rem, 1fr)', cell: ({ item }) => item.connectorName },
  { title: 'Summary', width: '', card: 'more', from: Infinity, cell: ({ item }) => `${item.connectorName} · generation ${String(item.generation)} · ${String(item.attempts)} differed` },
  { title: 'Document', width: 'minmax(8rem, 1.5fr)', from: 1000, cell: ({ item }) => <Id value={item.watchedDocumentId} /> },
  { title: 'Owner', width: 'minmax(8rem, 1.2fr)', from: 1130, cell: ({ item }) => <Id value={item.ownerDid} /> },
  { title: 'Generation', width: '6rem', numeric: true, from: 870, cell: ({ item }) => item.generation },
  { title: 'Differed', width: '5rem', numeric: true, from: 770, cell: ({ item }) => item.attempts },
  { title: 'Next check', width: '8.5rem', from: 690, cell: ({ item }) => <NextCheck watch={item} /> },
  { title: 'Updated', width: '6.5rem', card: 'aside', cell: ({ item }) => <Time at={item.updatedAt} /> },
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

const CHIPS = { name: 'status', words: STATUSES.map((value) => ({ value, meaning: STATE_MEANING[value] })) };

export function WatchesView() {
  const filters = useFilters(NAMES);
  const due = filters.one('view') === 'due';
  const filter = useMemo(() => toFilter(filters), [filters]);
  const source = useMemo(() => (due ? dueSource(filter) : watchSource(filter)), [due, filter]);
  const [bulk, setBulk] = useState(false);
  const opened = useOpened();
  const hrefTo = useOpenHref();
  const show = (view: string): void => {
    filters.set({ view: [view] });
  };
  return (
    <main id="main" className="filled">
      <div className="heading">
        <h1>Watches</h1>
        <div className="switch" role="group" aria-label="Which watches">
          <button type="button" aria-pressed={!due} onClick={() => { show(''); }}>
            All
          </button>
          <button type="button" aria-pressed={due} title="What is to be read back now, the longest due first" onClick={() => { show('due'); }}>
            Due now
          </button>
        </div>
      </div>
      <LiveTable
        bar={<FilterBar filters={filters} {...(!due && { chips: CHIPS })} fields={due ? DUE_FIELDS : FIELDS} />}
        name={due ? 'Watches that are due, the longest due first' : 'Watches'}
        source={source}
        columns={COLUMNS}
        hrefOf={({ id }) => hrefTo({ node: id })}
        isOpen={({ id }) => sameOpened(opened, { node: id })}
        label={({ model, watchedSourceId }) => `${model} ${watchedSourceId}`}
        empty={due ? <NothingDue /> : anyFilter(filters, ['view']) ? <NoMatch what="watch" /> : <NoWatch />}
        tools={!due && <button type="button" onClick={() => { setBulk(true); }}>Act on all…</button>}
      />
      {bulk && <BulkDialog of={{ watches: filter }} onClose={() => { setBulk(false); }} />}
    </main>
  );
}

function NothingDue() {
  return (
    <section className="empty">
      <h2>No check is due</h2>
      <p>Every watch is settled, in somebody’s work, or waits for its time. Due ones show here, the longest due first.</p>
    </section>
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
