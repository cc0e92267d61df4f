// The change feed, newest on top.
import { useMemo } from 'react';
import { LiveTable } from '../live/LiveTable';
import type { Column } from '../live/Rows';
import { anyFilter, sameOpened, useFilters, useOpened, useOpenHref, type Opened } from '../ui/address';
import { FilterBar } from '../ui/filter-bar';
import { Copy, Id, Move, Nothing } from '../ui/parts';
import { Time } from '../ui/time';
import { words } from '../ui/words';
import { Facts, notable, noteOf } from './facts';
import { changeSource, ENTITIES, FIELDS, NAMES, toFilter, type Change } from './source';

const COLUMNS: readonly Column<Change>[] = [
  { title: 'When', width: '6.5rem', card: 'aside', cell: ({ item }) => <Time at={item.at} /> },
  {
    title: 'Change',
    width: '12.5rem',
    card: 'title',
    cell: ({ item }) => (
      <>
        <strong>{words(item.transition)}</strong>
        <small>{words(item.entity)}</small>
      </>
    ),
  },
  { title: 'State', width: '15rem', card: 'lead', from: 660, cell: ({ item }) => <Move change={item} /> },
  { title: 'Connector', width: 'minmax(7rem, 1fr)', card: 'more', cell: ({ item }) => item.connectorName ?? <Nothing /> },
  {
    title: 'Document',
    width: 'minmax(9rem, 1.5fr)',
    from: 880,
    cell: ({ item }) => (item.documentId === null ? <Nothing /> : <Id value={item.documentId} />),
  },
  {
    title: 'Owner',
    width: 'minmax(8rem, 1.2fr)',
    from: 1250,
    cell: ({ item }) => (item.ownerDid === null ? <Nothing /> : <Id value={item.ownerDid} />),
  },
  { title: 'Facts', width: 'minmax(10rem, 2.2fr)', from: 1030, cell: ({ item }) => <Told change={item} /> },
  {
    title: 'Copy',
    width: '4.5rem',
    from: 740,
    cell: ({ item }) => <Copy text={JSON.stringify(item, null, 2)} label={`Copy as JSON: ${words(item.transition)}`} />,
  },
];

function Told({ change: { facts } }: { change: Change }) {
  const note = noteOf(facts);
  return (
    <span className="clipped">
      {note !== undefined && <q>{note}</q>} <Facts facts={notable(facts)} />
    </span>
  );
}

const CHIPS = { name: 'entity', words: ENTITIES.map((value) => ({ value, meaning: `Changes of: ${words(value)}` })) };

function openedBy({ entity, node, documentId }: Change): Opened | undefined {
  if (entity === 'DOCUMENT') return documentId === null ? undefined : { document: documentId };
  return node ? { node: node.id } : undefined;
}

export function FeedView() {
  const filters = useFilters(NAMES);
  const source = useMemo(() => changeSource(toFilter(filters), filters.one('after')), [filters]);
  const opened = useOpened();
  const hrefTo = useOpenHref();
  return (
    <main id="main" className="filled">
      <div className="heading">
        <h1>Feed</h1>
        <p className="hint">What happened, newest first. A paused feed goes on where it stopped: nothing is missed.</p>
      </div>
      <LiveTable
        bar={<FilterBar filters={filters} chips={CHIPS} fields={FIELDS} />}
        name="Changes, newest first"
        source={source}
        columns={COLUMNS}
        hrefOf={(change) => {
          const opens = openedBy(change);
          return opens && hrefTo(opens);
        }}
        isOpen={(change) => {
          const opens = openedBy(change);
          return opens !== undefined && sameOpened(opened, opens);
        }}
        label={({ transition, entity }) => `${words(transition)} ${words(entity)}`}
        tools={(rows) => <Copy text={() => JSON.stringify(rows.map(({ item }) => item), null, 2)} label="Copy as JSON: what is listed" named />}
        empty={anyFilter(filters) ? <NoChange /> : <Quiet />}
      />
    </main>
  );
}

function NoChange() {
  return (
    <section className="empty">
      <h2>No change matches</h2>
      <p>Nothing that is kept fits these filters. Leave the page open: what fits will appear here as it happens.</p>
    </section>
  );
}

function Quiet() {
  return (
    <section className="empty">
      <h2>Nothing has changed yet</h2>
      <p>
        Every transition is kept here as it happens: of operations, watches, documents, sweeps and sync states. The{' '}
        <a href="/operations">operations page</a> shows how to claim a first one.
      </p>
    </section>
  );
}
