// Where the list of documents gets its rows: by write state, from the server, which alone can derive it.
import { read } from '../graphql/client';
import { DocumentsDocument, type DocumentFilter, type DocumentRowFragment, type DocumentWriteState } from '../graphql/generated';
import type { Source } from '../live/useLiveList';

export type DocumentRow = DocumentRowFragment;

// Those that need a person first.
export const WRITE_STATES: readonly DocumentWriteState[] = ['NEEDS_RECONCILE', 'FAILED', 'DIVERGED', 'PENDING', 'VERIFYING', 'COMMITTED', 'IN_SYNC'];

const PAGE = 100;

export function documentSource(states: readonly DocumentWriteState[], filter: DocumentFilter): Source<DocumentRow> {
  return {
    back: false,
    async read(place) {
      const after = place && 'after' in place ? place.after : null;
      const { documentsByWriteState: page } = await read(DocumentsDocument, { states, filter, first: PAGE, after });
      const rows = page.edges.map(({ cursor, node }) => ({
        id: node.id,
        item: node,
        at: '',
        latest: undefined,
        fits: true,
        place: 'top' as const,
        cursor,
      }));
      return { rows, hasMore: page.pageInfo.hasNextPage };
    },
    fromChange: ({ documentId }) => (documentId === null ? undefined : 'stale'),
  };
}
