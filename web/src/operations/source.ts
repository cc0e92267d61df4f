// Where the list of operations gets its rows: by pages from the server, by changes from the feed.
import { read } from '../graphql/client';
import {
  OperationsDocument,
  type OperationFilter,
  type OperationRowFragment,
  type OperationState,
} from '../graphql/generated';
import type { Source } from '../live/useLiveList';
import type { Filters } from '../ui/address';

export type Operation = OperationRowFragment;

export const STATES: readonly OperationState[] = ['ATTEMPTED', 'RECONCILE_ONLY', 'COMMITTED', 'DEAD'];

const PAGE = 50;

export function operationSource({ states, connector }: Filters): Source<Operation> {
  const chosen = STATES.filter((state) => states.includes(state));
  const filter: OperationFilter = {
    ...(chosen.length > 0 && { states: chosen }),
    ...(connector !== '' && { connectorName: connector }),
  };
  // The same question as the server's filter, asked of a row that changed.
  const fits = (operation: Operation): boolean =>
    (chosen.length === 0 || chosen.includes(operation.state)) &&
    (connector === '' || operation.connectorName === connector);

  return {
    async read(after) {
      const { operations } = await read(OperationsDocument, { filter, first: PAGE, after: after ?? null });
      const rows = operations.edges.map(({ cursor, node }) => ({
        id: node.id,
        item: node,
        at: node.updatedAt,
        latest: node.changes.nodes[0],
        fits: true,
        cursor,
        live: false,
      }));
      return { rows, hasMore: operations.pageInfo.hasNextPage };
    },
    fromChange(change) {
      const { node } = change;
      if (node?.__typename !== 'Operation') return undefined;
      const at = node.updatedAt;
      return { id: node.id, item: node, at, latest: change, fits: fits(node), cursor: undefined, live: true };
    },
  };
}
