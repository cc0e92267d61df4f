// Reads what is open in full, and again whenever the feed tells of a change to it or its lease is about to end.
import { useEffect, useMemo } from 'react';
import { read } from '../graphql/client';
import { DetailDocument, DocumentDetailDocument, type DetailQuery, type DocumentDetailQuery } from '../graphql/generated';
import type { FeedChange } from '../live/feed';
import { useRefreshed, type Refreshed } from '../live/useRefreshed';

export type Detail = NonNullable<DetailQuery['node']>;
export type OperationDetail = Extract<Detail, { __typename: 'Operation' }>;
export type WatchDetail = Extract<Detail, { __typename: 'Watch' }>;
export type ReceiptDetail = Extract<Detail, { __typename: 'SweepReceipt' }>;
export type CandidateDetail = Extract<Detail, { __typename: 'SweepCandidate' }>;
export type SyncStateDetail = Extract<Detail, { __typename: 'SyncState' }>;
export type DocumentDetail = DocumentDetailQuery['document'];

// A renewed lease makes no change, so it is read again shortly before its end.
const BEFORE_LEASE_END_MS = 2_000;
const SHORTEST_WAIT_MS = 1_000;
// One thing is cheap to read, and whoever looks at it wants to see it move.
const REST_MS = 150;

// null: there is no such node.
export function useDetail(id: string): Refreshed<Detail | null> {
  const load = useMemo(() => async () => (await read(DetailDocument, { id })).node, [id]);
  const options = useMemo(
    () => ({
      restMs: REST_MS,
      // A reissue is a change of the new operation alone, and what is gone cannot be told from its change.
      concerns: ({ node, transition }: Pick<FeedChange, 'node' | 'transition'>) => node === null || node.id === id || transition === 'reissue',
    }),
    [id],
  );
  const detail = useRefreshed(load, options);
  useLeaseEnd(detail.value?.__typename === 'Operation' ? detail.value : undefined, detail.reload);
  return detail;
}

export function useDocument(id: string): Refreshed<DocumentDetail> {
  const load = useMemo(() => async () => (await read(DocumentDetailDocument, { id })).document, [id]);
  const options = useMemo(
    () => ({ restMs: REST_MS, concerns: ({ documentId }: { documentId: string | null }) => documentId === id }),
    [id],
  );
  return useRefreshed(load, options);
}

function useLeaseEnd(operation: OperationDetail | undefined, reload: () => void): void {
  useEffect(() => {
    const lease = operation?.lease;
    if (!lease?.live) return undefined;
    const left = Date.parse(lease.expiresAt) - Date.now();
    const wait = left > 2 * BEFORE_LEASE_END_MS ? left - BEFORE_LEASE_END_MS : Math.max(left, SHORTEST_WAIT_MS);
    const timer = setTimeout(reload, wait);
    return () => {
      clearTimeout(timer);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `reload` is new at each rendering; the reading is what counts
  }, [operation]);
}
