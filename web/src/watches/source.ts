// Where the list of watches gets its rows: by pages from the server, by changes from the feed.
import { read } from '../graphql/client';
import { WatchesDocument, type WatchFilter, type WatchRowFragment, type WatchStatus } from '../graphql/generated';
import type { Source } from '../live/useLiveList';
import type { Filters } from '../ui/address';

export type Watch = WatchRowFragment;

export const STATUSES: readonly WatchStatus[] = ['PENDING_VERIFICATION', 'VERIFIED', 'REPAIR_FAILED'];

const PAGE = 50;

export function watchSource({ states, connector }: Filters): Source<Watch> {
  const chosen = STATUSES.filter((status) => states.includes(status));
  const filter: WatchFilter = {
    ...(chosen.length > 0 && { statuses: chosen }),
    ...(connector !== '' && { connectorName: connector }),
  };
  // The same question as the server's filter, asked of a row that changed.
  const fits = (watch: Watch): boolean =>
    (chosen.length === 0 || chosen.includes(watch.status)) &&
    (connector === '' || watch.connectorName === connector);

  return {
    async read(after) {
      const { watches } = await read(WatchesDocument, { filter, first: PAGE, after: after ?? null });
      const rows = watches.edges.map(({ cursor, node }) => ({
        id: node.id,
        item: node,
        at: node.updatedAt,
        latest: node.changes.nodes[0],
        fits: true,
        cursor,
        live: false,
      }));
      return { rows, hasMore: watches.pageInfo.hasNextPage };
    },
    fromChange(change) {
      const { node } = change;
      if (change.entity === 'WATCH' && node === null) return 'gone';
      if (node?.__typename !== 'Watch') return undefined;
      const at = node.updatedAt;
      return { id: node.id, item: node, at, latest: change, fits: fits(node), cursor: undefined, live: true };
    },
  };
}
