// Where the feed's view gets its rows: older changes by pages, new ones as they come.
import { read } from '../graphql/client';
import { ChangesDocument, type ChangeFilter, type ChangeRowFragment, type EntityKind } from '../graphql/generated';
import type { Row } from '../live/list';
import type { Source } from '../live/useLiveList';
import type { Filters } from '../ui/address';
import type { FilterField } from '../ui/filter-bar';

export type Change = ChangeRowFragment & { readonly node: { readonly id: string } | null };

export const ENTITIES: readonly EntityKind[] = ['OPERATION', 'WATCH', 'DOCUMENT', 'SWEEP_RECEIPT', 'SWEEP_CANDIDATE', 'SWEEP_CHECKPOINT', 'SYNC_STATE'];

export const FIELDS: readonly FilterField[] = [
  { name: 'transition', title: 'Transition', hint: 'like finalize' },
  { name: 'connector', title: 'Connector' },
  { name: 'owner', title: 'Owner', hint: 'a DID' },
  { name: 'caller', title: 'Caller', hint: 'a DID' },
  { name: 'document', title: 'Document' },
  { name: 'after', title: 'After cursor', hint: 'go on from a cursor' },
];

export const NAMES: readonly string[] = ['entity', ...FIELDS.map(({ name }) => name)];

const PAGE = 100;

export function toFilter({ one, values }: Filters): ChangeFilter {
  const entities = ENTITIES.filter((entity) => values.entity?.includes(entity));
  return {
    ...(entities.length > 0 && { entities }),
    ...(one('transition') && { transitions: [one('transition')] }),
    ...(one('connector') && { connectorName: one('connector') }),
    ...(one('owner') && { ownerDid: one('owner') }),
    ...(one('caller') && { callerDid: one('caller') }),
    ...(one('document') && { documentIds: [one('document')] }),
  };
}

function fits({ entities, transitions, documentIds, ...filter }: ChangeFilter, change: ChangeRowFragment): boolean {
  return (
    (!entities || entities.includes(change.entity)) &&
    (!transitions || transitions.includes(change.transition)) &&
    (!documentIds || (change.documentId !== null && documentIds.includes(change.documentId))) &&
    (!filter.connectorName || filter.connectorName === change.connectorName) &&
    (!filter.ownerDid || filter.ownerDid === change.ownerDid) &&
    (!filter.callerDid || filter.callerDid === change.callerDid)
  );
}

function toRow(change: Change): Row<Change> {
  const { cursor, at } = change;
  return { id: cursor, item: change, at, latest: undefined, fits: true, place: 'top', cursor };
}

// Newest first, so the list's older end is what the server calls before. `from` bounds it: nothing up to that cursor.
export function changeSource(filter: ChangeFilter, from: string): Source<Change> {
  const after = from === '' ? null : from;
  return {
    back: true,
    async read(place) {
      const asked =
        place && 'before' in place ? { filter, first: PAGE, after: place.before } : { filter, last: PAGE, after, before: place?.after ?? null };
      const { changes } = await read(ChangesDocument, asked);
      return {
        rows: changes.edges.map(({ node }) => toRow(node)).reverse(),
        hasMore: place && 'before' in place ? changes.pageInfo.hasNextPage : changes.pageInfo.hasPreviousPage,
      };
    },
    fromChange: (change) => {
      const { cursor, transition } = change;
      return fits(filter, change) ? { ...toRow(change), latest: { cursor, transition } } : undefined;
    },
  };
}
