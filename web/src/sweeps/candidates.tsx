// The candidates of sweeps as a list: refused ones with their errors, and those that are still looked at.
import { useMemo, type ReactNode } from 'react';
import { read } from '../graphql/client';
import { SweepCandidatesDocument, type CandidateFragment, type SweepCandidateFilter } from '../graphql/generated';
import { LiveTable } from '../live/LiveTable';
import type { Column } from '../live/Rows';
import type { Source } from '../live/useLiveList';
import { sameOpened, useOpened, useOpenHref } from '../ui/address';
import { Badge, Id, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { CANDIDATE_MEANING } from '../ui/words';

const PAGE = 100;

function candidateSource(filter: SweepCandidateFilter): Source<CandidateFragment> {
  return {
    back: false,
    async read(place) {
      const after = place && 'after' in place ? place.after : null;
      const { sweepCandidates } = await read(SweepCandidatesDocument, { filter, first: PAGE, after });
      const rows = sweepCandidates.edges.map(({ cursor, node }) => ({
        id: node.id,
        item: node,
        at: node.updatedAt,
        latest: undefined,
        fits: true,
        place: 'top' as const,
        cursor,
      }));
      return { rows, hasMore: sweepCandidates.pageInfo.hasNextPage };
    },
    fromChange: ({ entity }) => (entity === 'SWEEP_CANDIDATE' ? 'stale' : undefined),
  };
}

const COLUMNS: readonly Column<CandidateFragment>[] = [
  { title: 'State', width: '8rem', card: 'lead', cell: ({ item }) => <Badge state={item.state} meaning={CANDIDATE_MEANING[item.state]} /> },
  {
    title: 'Document',
    width: 'minmax(10rem, 1.5fr)',
    card: 'title',
    cell: ({ item }) => (
      <>
        <Id value={item.documentId} />
        <small>
          <Id value={item.sourceId} />
        </small>
      </>
    ),
  },
  {
    title: 'Last error',
    width: 'minmax(12rem, 2.5fr)',
    card: 'more',
    cell: ({ item: { lastError } }) =>
      lastError === null ? (
        <Nothing />
      ) : (
        <span className="clipped" title={lastError}>
          {lastError}
        </span>
      ),
  },
  { title: 'Partition', width: 'minmax(8rem, 1fr)', from: 900, cell: ({ item }) => item.receipt?.partition ?? <Nothing /> },
  { title: 'Looks', width: '4.5rem', numeric: true, from: 760, cell: ({ item }) => item.attempts },
  { title: 'Failed', width: '5rem', numeric: true, from: 760, cell: ({ item }) => item.applyFailures },
  {
    title: 'Next look',
    width: '7rem',
    from: 1000,
    cell: ({ item: { state, nextAttemptAt } }) =>
      state === 'APPLIED' || state === 'REFUSED' ? <Nothing /> : nextAttemptAt === null ? 'due' : <Due at={nextAttemptAt} />,
  },
  { title: 'Updated', width: '6.5rem', card: 'aside', cell: ({ item }) => <Time at={item.updatedAt} /> },
];

export function Candidates({ filter, bar }: { filter: SweepCandidateFilter; bar: ReactNode }) {
  const source = useMemo(() => candidateSource(filter), [filter]);
  const opened = useOpened();
  const hrefTo = useOpenHref();
  return (
    <LiveTable
      bar={bar}
      name="Candidates, the longest untouched first"
      source={source}
      columns={COLUMNS}
      hrefOf={({ id }) => hrefTo({ node: id })}
      isOpen={({ id }) => sameOpened(opened, { node: id })}
      label={({ documentId }) => documentId}
      empty={
        <section className="empty">
          <h2>No candidate</h2>
          <p>A candidate is a document that a complete relist did not show. None fits these filters now.</p>
        </section>
      }
    />
  );
}
