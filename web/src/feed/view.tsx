// The change feed, newest on top.
import { LiveTable, type Column } from '../live/LiveTable';
import { Id, Move, Nothing } from '../ui/parts';
import { Time } from '../ui/time';
import { words } from '../ui/words';
import { changeSource, type Change } from './source';
import { Facts, notable } from './facts';

const COLUMNS: readonly Column<Change>[] = [
  { title: 'When', bare: true, cell: ({ item }) => <Time at={item.at} /> },
  {
    title: 'Change',
    bare: true,
    cell: ({ item, live }) => (
      <>
        <strong className="latest" data-fresh={live || undefined}>
          {words(item.transition)}
        </strong>
        <small>{words(item.entity)}</small>
      </>
    ),
  },
  { title: 'State', cell: ({ item }) => <Move change={item} /> },
  { title: 'Connector', cell: ({ item }) => item.connectorName ?? <Nothing /> },
  {
    title: 'Document',
    cell: ({ item }) => (item.documentId === null ? <Nothing /> : <Id value={item.documentId} />),
  },
  {
    title: 'Owner',
    wide: true,
    cell: ({ item }) => (item.ownerDid === null ? <Nothing /> : <Id value={item.ownerDid} />),
  },
  { title: 'Facts', wide: true, cell: ({ item }) => <Facts facts={notable(item.facts)} /> },
];

export function FeedView() {
  return (
    <main id="main">
      <div className="heading">
        <h1>Feed</h1>
        <p className="hint">Every change on this server, newest first.</p>
      </div>
      <LiveTable
        name="Changes, newest first"
        source={changeSource}
        columns={COLUMNS}
        opens={({ entity, node }) => (entity === 'OPERATION' || entity === 'WATCH' ? node?.id : undefined)}
        label={({ transition, entity }) => `${words(transition)} ${words(entity)}`}
        empty={
          <section className="empty">
            <h2>Nothing has changed yet</h2>
            <p>
              Every transition of an operation or a watch is kept here as it happens. The{' '}
              <a href="/">operations page</a> shows how to claim a first one.
            </p>
          </section>
        }
      />
    </main>
  );
}
