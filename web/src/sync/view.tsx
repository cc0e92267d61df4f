// How far connectors have read, and the sign-ins at providers that are waited for.
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { LiveTable } from '../live/LiveTable';
import type { Column } from '../live/Rows';
import { sameOpened, useFilters, useOpened, useOpenHref } from '../ui/address';
import { FilterBar, type FilterField } from '../ui/filter-bar';
import { Badge, Id, Nothing } from '../ui/parts';
import { relative, Time, useTicking } from '../ui/time';
import { pendingAuthSource, syncStateSource, type PendingAuth, type SyncState } from './source';

const OWNER: FilterField = { name: 'owner', title: 'Owner', hint: 'a DID' };
const SYNC_FIELDS: readonly FilterField[] = [{ name: 'connector', title: 'Connector' }, OWNER];
const AUTH_FIELDS: readonly FilterField[] = [
  OWNER,
  { name: 'provider', title: 'Provider' },
];
const NAMES = ['view', 'connector', 'owner', 'provider'];

const SYNC_COLUMNS: readonly Column<SyncState>[] = [
  { title: 'Status', width: '7.5rem', card: 'lead', cell: ({ item }) => <Badge state={item.status} /> },
  { title: 'Owner', width: 'minmax(12rem, 2fr)', card: 'title', cell: ({ item }) => <Id value={item.ownerDid} /> },
  { title: 'Connector', width: 'minmax(8rem, 1fr)', card: 'more', cell: ({ item }) => item.connectorName },
  { title: 'Entities', width: '7rem', numeric: true, from: 720, cell: ({ item }) => item.entityCount.toLocaleString('en') },
  {
    title: 'Error',
    width: 'minmax(10rem, 2fr)',
    from: 860,
    cell: ({ item: { error } }) =>
      error === null ? (
        <Nothing />
      ) : (
        <span className="clipped" title={error}>
          {error}
        </span>
      ),
  },
  { title: 'Last read', width: '7rem', card: 'aside', cell: ({ item }) => <Time at={item.lastSyncedAt} /> },
];

const AUTH_COLUMNS: readonly Column<PendingAuth>[] = [
  { title: 'Provider', width: 'minmax(7rem, 1fr)', card: 'lead', cell: ({ item }) => <strong>{item.provider}</strong> },
  { title: 'Owner', width: 'minmax(12rem, 2fr)', card: 'title', cell: ({ item }) => <Id value={item.ownerDid} /> },
  {
    title: 'Asks for',
    width: 'minmax(10rem, 2fr)',
    card: 'more',
    cell: ({ item: { scopes, incremental } }) => (
      <>
        <span className="clipped" title={scopes.join(' ')}>
          {scopes.join(', ') || 'nothing'}
        </span>
        {incremental && <small>adds to what was authorised before</small>}
      </>
    ),
  },
  { title: 'Comes back to', width: 'minmax(10rem, 1.5fr)', from: 1000, cell: ({ item }) => <Id value={item.redirectUrl} /> },
  { title: 'Made', width: '6.5rem', from: 760, cell: ({ item }) => <Time at={item.createdAt} /> },
  { title: 'Good until', width: '7rem', card: 'aside', cell: ({ item }) => <Expiry at={item.expiresAt} /> },
];

function Expiry({ at }: { at: string }) {
  return useTicking(useCallback((now: number) => (Date.parse(at) < now ? 'too late' : relative(at, now)), [at]));
}

export function SyncView() {
  const filters = useFilters(NAMES);
  const hands = filters.one('view') === 'hand-offs';
  const show = (view: string): void => {
    filters.set({ view: [view] });
  };
  const bar = <FilterBar filters={filters} fields={hands ? AUTH_FIELDS : SYNC_FIELDS} />;
  return (
    <main id="main" className="filled">
      <div className="heading">
        <h1>Sync and hand-offs</h1>
        <div className="switch" role="group" aria-label="What of it">
          <button type="button" aria-pressed={!hands} onClick={() => { show(''); }}>
            Sync states
          </button>
          <button type="button" aria-pressed={hands} onClick={() => { show('hand-offs'); }}>
            Pending authorisations
          </button>
        </div>
      </div>
      {hands ? <PendingAuths owner={filters.one('owner')} provider={filters.one('provider')} bar={bar} /> : <SyncStates connector={filters.one('connector')} owner={filters.one('owner')} bar={bar} />}
    </main>
  );
}

function SyncStates({ connector, owner, bar }: { connector: string; owner: string; bar: ReactNode }) {
  const source = useMemo(() => syncStateSource(connector, owner), [connector, owner]);
  const opened = useOpened();
  const hrefTo = useOpenHref();
  return (
    <LiveTable
      bar={bar}
      name="Sync states"
      source={source}
      columns={SYNC_COLUMNS}
      hrefOf={({ id }) => hrefTo({ node: id })}
      isOpen={({ id }) => sameOpened(opened, { node: id })}
      label={({ connectorName, ownerDid }) => `${connectorName} ${ownerDid}`}
      empty={
        <section className="empty">
          <h2>No sync state</h2>
          <p>
            A connector keeps here how far it has read an owner’s data: it advances by compare-and-set, so that of two readers only
            one goes on. What stops it shows as its error.
          </p>
        </section>
      }
    />
  );
}

function PendingAuths({ owner, provider, bar }: { owner: string; provider: string; bar: ReactNode }) {
  const [turn, setTurn] = useState(0);
  const source = useMemo(() => ({ ...pendingAuthSource(owner, provider), turn }), [owner, provider, turn]);
  return (
    <LiveTable
      bar={bar}
      name="Pending authorisations, oldest first"
      source={source}
      columns={AUTH_COLUMNS}
      hrefOf={() => undefined}
      isOpen={() => false}
      label={({ provider }) => provider}
      tools={
        <button
          type="button"
          onClick={() => {
            setTurn(turn + 1);
          }}
        >
          Read again
        </button>
      }
      empty={
        <section className="empty">
          <h2>Nobody is waited for</h2>
          <p>
            When a provider asks for a new sign-in, a connector puts down here what it waits for. Whoever comes back with it takes it
            out, once. Its secret is never shown.
          </p>
        </section>
      }
    />
  );
}
