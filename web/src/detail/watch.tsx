// One watch in full: what it compares, when it looks next, what happened.
import { Badge, Field, Id, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { DEFER_MEANING, STATE_MEANING, words } from '../ui/words';
import { Timeline } from './timeline';
import type { WatchDetail } from './useDetail';

export function WatchSections({ watch }: { watch: WatchDetail }) {
  return (
    <>
      <p className="standing">
        <Badge state={watch.status} /> {STATE_MEANING[watch.status]}.
      </p>
      <Standing watch={watch} />
      <h3>Digests</h3>
      <Digests watch={watch} />
      <h3>Timeline</h3>
      <Timeline changes={watch.changes} />
      <h3>Identity</h3>
      <Identity watch={watch} />
    </>
  );
}

function Standing({ watch }: { watch: WatchDetail }) {
  const { nextAttemptAt, claimedUntil, deferReason } = watch;
  return (
    <dl>
      <Field name="Generation">{watch.generation}</Field>
      <Field name="Failed checks">{watch.attempts}</Field>
      <Field name="Next check">
        {nextAttemptAt === null ? <Nothing /> : <Due at={nextAttemptAt} />}
        {deferReason !== null && `, ${DEFER_MEANING[deferReason]}`}
      </Field>
      <Field name="Claimed until">{claimedUntil === null ? <Nothing /> : <Time at={claimedUntil} />}</Field>
      <Field name="Document is">{words(watch.watchedDocument.writeState)}</Field>
      <Field name="Created">
        <Time at={watch.createdAt} />
      </Field>
      <Field name="Updated">
        <Time at={watch.updatedAt} />
      </Field>
    </dl>
  );
}

function Digests({ watch }: { watch: WatchDetail }) {
  const digests: readonly (readonly [string, string | null | undefined])[] = [
    ['Winner now', watch.watchedDocument.winner?.digest],
    ['Winner seen', watch.observedWinnerDigest],
    ['Verified', watch.verifiedStateDigest],
  ];
  return (
    <dl className="envelope">
      {digests.map(([name, value]) => (
        <Field key={name} name={name}>
          {value ? <Id value={value} full /> : <Nothing />}
        </Field>
      ))}
    </dl>
  );
}

function Identity({ watch }: { watch: WatchDetail }) {
  const fields: readonly (readonly [string, string])[] = [
    ['Owner', watch.ownerDid],
    ['Connector', watch.connectorName],
    ['Model', watch.model],
    ['Account', watch.accountKey],
    ['Source id', watch.watchedSourceId],
    ['Document', watch.watchedDocumentId],
  ];
  return (
    <dl className="envelope">
      {fields.map(([name, value]) => (
        <Field key={name} name={name}>
          <Id value={value} full />
        </Field>
      ))}
    </dl>
  );
}
