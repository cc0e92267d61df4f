// The documents: look one up by its id, or list them by what became of their writes.
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { reason, sentence } from '../detail/sentence';
import { LiveTable } from '../live/LiveTable';
import type { Column } from '../live/Rows';
import { anyFilter, sameOpened, useFilters, useOpened, useOpenHref } from '../ui/address';
import { FilterBar, type FilterField } from '../ui/filter-bar';
import { LookUp } from '../ui/look-up';
import { Badge, Id, Nothing } from '../ui/parts';
import { Time } from '../ui/time';
import { WRITE_STATE_MEANING } from '../ui/words';
import { documentSource, WRITE_STATES, type DocumentRow } from './source';

const FIELDS: readonly FilterField[] = [
  { name: 'connector', title: 'Connector' },
  { name: 'owner', title: 'Owner', hint: 'a DID' },
];
const NAMES = ['state', 'connector', 'owner'];
const CHIPS = { name: 'state', words: WRITE_STATES.map((value) => ({ value, meaning: WRITE_STATE_MEANING[value] })) };

const COLUMNS: readonly Column<DocumentRow>[] = [
  { title: 'Write state', width: '10rem', card: 'lead', cell: ({ item }) => <Badge state={item.writeState} /> },
  { title: 'Document', width: 'minmax(12rem, 1.2fr)', card: 'title', cell: ({ item }) => <Id value={item.id} /> },
  {
    title: 'Why',
    width: 'minmax(14rem, 2.5fr)',
    from: 800,
    cell: ({ item }) => (
      <span className="clipped" title={sentence(item)}>
        {reason(item)}
      </span>
    ),
  },
  { title: 'Connector', width: 'minmax(7rem, 0.8fr)', card: 'more', cell: ({ item }) => latestOf(item)?.connectorName ?? <Nothing /> },
  { title: 'Model', width: '7rem', from: 1000, cell: ({ item }) => latestOf(item)?.model ?? <Nothing /> },
  { title: 'Check', width: '12rem', from: 1150, cell: ({ item }) => (item.watch ? <Badge state={item.watch.status} /> : <Nothing />) },
  {
    title: 'Last write',
    width: '6.5rem',
    card: 'aside',
    cell: ({ item }) => {
      const latest = latestOf(item);
      return latest ? <Time at={latest.updatedAt} /> : <Nothing />;
    },
  },
];

function latestOf({ inFlight, lastCommit }: DocumentRow) {
  return inFlight.at(-1) ?? lastCommit;
}

export function DocumentsView() {
  const filters = useFilters(NAMES);
  const source = useMemo(() => {
    const chosen = WRITE_STATES.filter((state) => filters.values.state?.includes(state));
    return documentSource(chosen.length > 0 ? chosen : WRITE_STATES, {
      ownerDid: filters.one('owner') || null,
      connectorName: filters.one('connector') || null,
    });
  }, [filters]);
  const opened = useOpened();
  const hrefTo = useOpenHref();
  return (
    <main id="main" className="filled">
      <div className="heading">
        <h1>Documents</h1>
        <Find />
      </div>
      <LiveTable
        bar={<FilterBar filters={filters} chips={CHIPS} fields={FIELDS} />}
        name="Documents by write state"
        source={source}
        columns={COLUMNS}
        hrefOf={({ id }) => hrefTo({ document: id })}
        isOpen={({ id }) => sameOpened(opened, { document: id })}
        label={({ id }) => id}
        empty={<Empty filtered={anyFilter(filters)} />}
      />
    </main>
  );
}

function Find() {
  const [, navigate] = useLocation();
  const hrefTo = useOpenHref();
  return (
    <LookUp
      label="Document id"
      hint="Look up a document by its id"
      act="Look up"
      onFind={(id) => {
        if (id !== '') navigate(hrefTo({ document: id }));
      }}
    />
  );
}

function Empty({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <section className="empty">
      <h2>No document is in these states</h2>
      <p>That is good news for the states in red and amber. Leave the page open: one that gets there will appear here.</p>
    </section>
  ) : (
    <section className="empty">
      <h2>No document yet</h2>
      <p>
        A document shows here once a write of it is claimed. Its write state is derived from its operations and its watch: on its
        way, in doubt, given up, written, being checked, diverged, or in sync.
      </p>
    </section>
  );
}
