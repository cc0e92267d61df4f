// Where the lists of sync states and of pending authorisations get their rows. A secret of one is never asked for: the
// schema has no field for it.
import { read } from '../graphql/client';
import { PendingAuthsDocument, SyncStatesDocument, type PendingAuthsQuery, type SyncStatesQuery } from '../graphql/generated';
import type { Place, Source } from '../live/useLiveList';

export type SyncState = SyncStatesQuery['syncStates']['edges'][number]['node'];
export type PendingAuth = PendingAuthsQuery['pendingAuths']['edges'][number]['node'];

const PAGE = 100;

function afterOf(place: Place): string | null {
  return place && 'after' in place ? place.after : null;
}

const FIXED = { latest: undefined, fits: true, place: 'top' as const };

export function syncStateSource(connector: string, owner: string): Source<SyncState> {
  return {
    back: false,
    async read(place) {
      const asked = { connectorName: connector === '' ? null : connector, ownerDid: owner === '' ? null : owner };
      const { syncStates } = await read(SyncStatesDocument, { ...asked, first: PAGE, after: afterOf(place) });
      const rows = syncStates.edges.map(({ cursor, node }) => ({ ...FIXED, id: node.id, item: node, at: '', cursor }));
      return { rows, hasMore: syncStates.pageInfo.hasNextPage };
    },
    fromChange: ({ entity }) => (entity === 'SYNC_STATE' ? 'stale' : undefined),
  };
}

// What happens to an authorisation makes no change in the log, so the list is as it was when it was read.
export function pendingAuthSource(owner: string, provider: string): Source<PendingAuth> {
  return {
    back: false,
    async read(place) {
      const asked = { ownerDid: owner === '' ? null : owner, provider: provider === '' ? null : provider };
      const { pendingAuths } = await read(PendingAuthsDocument, { ...asked, first: PAGE, after: afterOf(place) });
      const rows = pendingAuths.edges.map(({ cursor, node }) => ({ ...FIXED, id: node.state, item: node, at: '', cursor }));
      return { rows, hasMore: pendingAuths.pageInfo.hasNextPage };
    },
    fromChange: () => undefined,
  };
}
