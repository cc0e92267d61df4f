// Where the feed's view gets its rows: older changes by pages, new ones as they come.
import { read } from '../graphql/client';
import { ChangesDocument, type ChangeRowFragment } from '../graphql/generated';
import type { Row } from '../live/list';
import type { Source } from '../live/useLiveList';

export type Change = ChangeRowFragment & { readonly node: { readonly id: string } | null };

const PAGE = 100;

function toRow(change: Change, live: boolean): Row<Change> {
  const { cursor, at } = change;
  return { id: cursor, item: change, at, latest: change, fits: true, cursor, live };
}

export const changeSource: Source<Change> = {
  async read(before) {
    const { changes } = await read(ChangesDocument, { last: PAGE, before: before ?? null });
    return {
      rows: changes.edges.map(({ node }) => toRow(node, false)).reverse(),
      hasMore: changes.pageInfo.hasPreviousPage,
    };
  },
  fromChange: (change) => toRow(change, true),
};
