// Where the list of watches gets its rows: by pages from the server, by changes from the feed.
import { read } from '../graphql/client';
import { DueWatchesDocument, WatchesDocument, type WatchFilter, type WatchRowFragment } from '../graphql/generated';
import type { Row } from '../live/list';
import type { Source } from '../live/useLiveList';
import { isBack, range } from '../operations/source';
import { fits } from './filters';

export type Watch = WatchRowFragment;

const PAGE = 100;

function toRow(item: Watch, cursor: string | undefined): Row<Watch> {
  return { id: item.id, item, at: item.updatedAt, latest: undefined, fits: true, place: 'top', cursor };
}

// By identity; what changes while the list is open and is not listed yet comes on top.
export function watchSource(filter: WatchFilter): Source<Watch> {
  return {
    back: true,
    async read(place) {
      const { watches } = await read(WatchesDocument, { filter, ...range(place) });
      const { hasNextPage, hasPreviousPage } = watches.pageInfo;
      const rows = watches.edges.map(({ cursor, node }) => toRow(node, cursor));
      return { rows, hasMore: isBack(place) ? hasPreviousPage : hasNextPage };
    },
    fromChange({ entity, node, cursor, transition }) {
      // A removed watch cannot be told from its change: nothing is left to read its id from.
      if (entity === 'WATCH' && node === null) return 'stale';
      if (node?.__typename !== 'Watch') return undefined;
      return { ...toRow(node, undefined), latest: { cursor, transition }, fits: fits(filter, node) };
    },
  };
}

// What is due now, the longest due first, whose winner moved unseen among them. Only the server knows what is in it.
export function dueSource({ connectorName, ownerDid }: WatchFilter): Source<Watch> {
  const filter = { connectorName: connectorName ?? null, ownerDid: ownerDid ?? null };
  return {
    back: false,
    async read(place) {
      const after = place && 'after' in place ? place.after : null;
      const { dueWatches } = await read(DueWatchesDocument, { filter, first: PAGE, after });
      const rows = dueWatches.edges.map(({ cursor, node }) => toRow(node, cursor));
      return { rows, hasMore: dueWatches.pageInfo.hasNextPage };
    },
    fromChange: ({ entity }) => (entity === 'WATCH' ? 'stale' : undefined),
  };
}
