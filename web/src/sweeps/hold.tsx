// Where a partition's checkpoint stands, and what holds it back from a receipt.
import { useMemo } from 'react';
import { Link } from 'wouter';
import { read } from '../graphql/client';
import { SweepHoldDocument, type ReceiptFragment, type SweepHoldQuery } from '../graphql/generated';
import { useRefreshed } from '../live/useRefreshed';
import { useOpenHref } from '../ui/address';
import { Badge, Trouble } from '../ui/parts';
import { Time } from '../ui/time';
import { CANDIDATE_MEANING } from '../ui/words';
import { UNRESOLVED, unresolvedOf } from './progress';

const concerns = ({ entity }: { entity: string }): boolean => entity.startsWith('SWEEP_');
const OPTIONS = { concerns };
// The first of what holds a receipt back; the list has all.
const SHOWN = 3;

export function Hold({ receipt }: { receipt: ReceiptFragment }) {
  const { receiptOwner: ownerDid, receiptConnector: connectorName, partition } = receipt;
  const load = useMemo(() => {
    const key = { ownerDid, connectorName, partition };
    return () => read(SweepHoldDocument, { key, filter: { ...key, states: UNRESOLVED } });
  }, [ownerDid, connectorName, partition]);
  const { value, error, reload } = useRefreshed(load, OPTIONS);
  if (error !== undefined) return <Trouble error={error} retry={reload} />;
  if (!value) return <p className="hint">Reading…</p>;
  return (
    <div className="hold">
      <Checkpoint checkpoint={value.sweepCheckpoint} />
      <p>{reasonOf(receipt, value)}</p>
      <Blockers receipt={receipt} hold={value} />
    </div>
  );
}

function Checkpoint({ checkpoint }: { checkpoint: SweepHoldQuery['sweepCheckpoint'] }) {
  if (!checkpoint) return <p className="hint">The partition has no checkpoint yet.</p>;
  return (
    <p className="hint">
      The checkpoint is at sequence {checkpoint.sequence}, since <Time at={checkpoint.updatedAt} />.
    </p>
  );
}

function reasonOf(receipt: ReceiptFragment, hold: SweepHoldQuery): string {
  if (receipt.committedAt !== null) return 'It is committed.';
  if (!receipt.complete) return 'The relist did not come to its end, so it cannot be committed.';
  const own = unresolvedOf(receipt.progress);
  if (own > 0) return `${String(own)} of its candidates ${own === 1 ? 'is' : 'are'} not resolved: they hold it back.`;
  if (blockersOf(receipt, hold).length > 0) return 'Candidates of an earlier relist of the partition are not resolved: they hold it back.';
  return 'Nothing holds it: a worker may commit it now.';
}

function blockersOf({ sequence }: ReceiptFragment, { sweepCandidates }: SweepHoldQuery) {
  return sweepCandidates.nodes.filter(({ receipt }) => receipt !== null && receipt.sequence <= sequence);
}

function candidatesHref({ partition, receiptOwner, receiptConnector }: ReceiptFragment): string {
  const params = new URLSearchParams({ view: 'candidates', partition, owner: receiptOwner, connector: receiptConnector });
  for (const state of UNRESOLVED) params.append('candidate', state);
  return `/sweeps?${params.toString()}`;
}

function Blockers({ receipt, hold }: { receipt: ReceiptFragment; hold: SweepHoldQuery }) {
  const hrefTo = useOpenHref();
  return (
    <ul className="links">
      {blockersOf(receipt, hold).slice(0, SHOWN).map(({ id, state, documentId, lastError, updatedAt }) => (
        <li key={id}>
          <Badge state={state} meaning={CANDIDATE_MEANING[state]} />
          <Link href={hrefTo({ node: id })}>{documentId}</Link>
          <small>{lastError ?? <Time at={updatedAt} />}</small>
        </li>
      ))}
      {hold.sweepCandidates.totalCount > SHOWN && (
        <li>
          <Link href={candidatesHref(receipt)}>
            All {hold.sweepCandidates.totalCount.toLocaleString('en')}
            {!hold.sweepCandidates.totalCountExact && '+'} that are not resolved
          </Link>
        </li>
      )}
    </ul>
  );
}
