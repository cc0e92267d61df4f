// One watch in full: what it compares, when it looks next, what happened.
import { Link } from 'wouter';
import { WatchActs } from '../acts/watch-acts';
import { useOpenHref } from '../ui/address';
import { Badge, Field, Fields, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { DEFER_MEANING, STATE_MEANING } from '../ui/words';
import { Timeline } from './timeline';
import type { WatchDetail } from './useDetail';

export function WatchSections({ watch }: { watch: WatchDetail }) {
  const winner = watch.watchedDocument.winner?.digest ?? null;
  return (
    <>
      <p className="standing">
        <Badge state={watch.status} /> {STATE_MEANING[watch.status]}.
      </p>
      <WatchActs watch={watch} />
      <Standing watch={watch} />
      <h3>Digests</h3>
      <Digests winner={winner} observed={watch.observedWinnerDigest} verified={watch.verifiedStateDigest} />
      <h3>Timeline</h3>
      <Timeline id={watch.id} changes={watch.changes} />
      <h3>Identity</h3>
      <Fields
        fields={[
          ['Owner', watch.ownerDid],
          ['Connector', watch.connectorName],
          ['Model', watch.model],
          ['Account', watch.accountKey],
          ['Source id', watch.watchedSourceId],
        ]}
      />
    </>
  );
}

function Standing({ watch }: { watch: WatchDetail }) {
  const { nextAttemptAt, claimedUntil, deferReason } = watch;
  const hrefTo = useOpenHref();
  return (
    <dl>
      <Field name="Generation">{watch.generation}</Field>
      <Field name="Checks that differed">{attemptsOf(watch)}</Field>
      <Field name="Next check">
        {nextAttemptAt === null ? <Nothing /> : <Due at={nextAttemptAt} />}
        {deferReason !== null && `, ${DEFER_MEANING[deferReason]}`}
      </Field>
      <Field name="Claimed until">{claimedUntil === null ? <Nothing /> : <Time at={claimedUntil} />}</Field>
      <Field name="Document">
        <Link href={hrefTo({ document: watch.watchedDocumentId })}>{watch.watchedDocumentId}</Link>{' '}
        <Badge state={watch.watchedDocument.writeState} />
      </Field>
      <Field name="Created">
        <Time at={watch.createdAt} />
      </Field>
      <Field name="Updated">
        <Time at={watch.updatedAt} />
      </Field>
    </dl>
  );
}

// The bound is the verifier's: the latest verification told it.
function attemptsOf({ attempts, changes }: WatchDetail): string {
  const facts = changes.nodes.map((change) => change.facts as { maxAttempts?: number } | null);
  const bound = facts.findLast((facts) => facts?.maxAttempts !== undefined)?.maxAttempts;
  return bound === undefined ? String(attempts) : `${String(attempts)} of ${String(bound)}`;
}

interface Compared {
  winner: string | null;
  observed: string | null;
  verified: string | null;
}

// What the local store says against what the provider was seen to show.
export function Digests({ winner, observed, verified }: Compared) {
  return (
    <>
      <p className="verdict" data-tone={winner !== null && winner === verified ? 'good' : 'look'}>
        {verdict(winner, verified)}
      </p>
      <Fields
        fields={[
          ['Winner now', winner],
          ['Winner seen', observed],
          ['Verified', verified],
        ]}
      />
    </>
  );
}

function verdict(winner: string | null, verified: string | null): string {
  if (winner === null) return 'No winner is recorded: there is nothing to compare with.';
  if (verified === null) return 'The provider was not seen to show the winner yet.';
  return winner === verified ? 'The provider was seen to show what the local store says.' : 'The local store has moved on since the provider was seen to agree.';
}
