// Where the list of operations gets its rows: by pages from the server, by changes from the feed.
import { read } from '../graphql/client';
import {
  DueOperationsDocument,
  OperationsDocument,
  SearchOperationsDocument,
  type OperationFilter,
  type OperationOrder,
  type OperationRowFragment,
} from '../graphql/generated';
import type { Row } from '../live/list';
import type { Place, Source } from '../live/useLiveList';
import { fits } from './filters';

export type Operation = OperationRowFragment;

const PAGE = 100;

function toRow(item: Operation, cursor: string | undefined): Row<Operation> {
  return { id: item.id, item, at: item.updatedAt, latest: undefined, fits: true, place: 'top', cursor };
}

export function operationSource(filter: OperationFilter, orderBy: OperationOrder): Source<Operation> {
  return {
    back: true,
    async read(place) {
      const { operations } = await read(OperationsDocument, { filter, orderBy, ...range(place) });
      const rows = operations.edges.map(({ cursor, node }) => toRow(node, cursor));
      const { hasNextPage, hasPreviousPage } = operations.pageInfo;
      return { rows, hasMore: isBack(place) ? hasPreviousPage : hasNextPage };
    },
    fromChange(change) {
      const { node, cursor, transition, fromState } = change;
      if (change.entity === 'OPERATION' && node === null) return 'stale';
      if (node?.__typename !== 'Operation') return undefined;
      const onTop = orderBy === 'UPDATED_DESC' || (orderBy === 'CREATED_DESC' && fromState === null);
      return {
        ...toRow(node, undefined),
        latest: { cursor, transition },
        fits: fits(filter, node),
        place: onTop ? 'top' : 'elsewhere',
      };
    },
  };
}

// What a worker may drive now, the longest due first. Only the server knows what is in it.
export function dueSource({ connectorName, ownerDid }: OperationFilter): Source<Operation> {
  const filter = { connectorName: connectorName ?? null, ownerDid: ownerDid ?? null };
  return {
    back: false,
    async read(place) {
      const after = place && 'after' in place ? place.after : null;
      const { dueOperations } = await read(DueOperationsDocument, { filter, first: PAGE, after });
      const rows = dueOperations.edges.map(({ cursor, node }) => toRow(node, cursor));
      return { rows, hasMore: dueOperations.pageInfo.hasNextPage };
    },
    fromChange: ({ entity }) => (entity === 'OPERATION' ? 'stale' : undefined),
  };
}

// What has an id that is this text or begins with it, of what the filter lets through. Exact ones first, as many as a page.
export function searchSource(text: string, filter: OperationFilter): Source<Operation> {
  return {
    back: false,
    async read() {
      const { search } = await read(SearchOperationsDocument, { text, first: PAGE });
      const found = search.flatMap((node) => (node.__typename === 'Operation' && fits(filter, node) ? [toRow(node, undefined)] : []));
      return { rows: found, hasMore: false };
    },
    fromChange({ node, cursor, transition }) {
      if (node?.__typename !== 'Operation') return undefined;
      // Whether a new one is found is for the server to say; one that is listed changes in place.
      return { ...toRow(node, undefined), latest: { cursor, transition }, fits: fits(filter, node), place: 'nowhere' };
    },
  };
}

export function range(place: Place): { first?: number; after?: string; last?: number; before?: string } {
  if (!place) return { first: PAGE };
  return 'after' in place ? { first: PAGE, after: place.after } : { last: PAGE, before: place.before };
}

export function isBack(place: Place): boolean {
  return place !== undefined && 'before' in place;
}
