// One document in full: what became of its writes in a sentence, its operations and watches, what happened.
import { Link } from 'wouter';
import { useOpenHref } from '../ui/address';
import { Badge, Field, Json, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { OperationLinks } from './operation-links';
import { sentence } from './sentence';
import { Timeline } from './timeline';
import type { DocumentDetail } from './useDetail';
import { Digests } from './watch';

export function DocumentSections({ document }: { document: DocumentDetail }) {
  const { winner, watches, watch, operations } = document;
  const compared = watches.find(({ id }) => id === watch?.id) ?? watches[0];
  return (
    <>
      <p className="standing">
        <Badge state={document.writeState} /> {sentence(document)}
      </p>
      {!document.hasConnectorWork && <p className="hint">Nothing is left to do for it.</p>}
      <h3>Winner against verified</h3>
      <Digests
        winner={winner?.digest ?? null}
        observed={compared?.observedWinnerDigest ?? null}
        verified={compared?.verifiedStateDigest ?? null}
      />
      {watches.length > 0 && (
        <>
          <h3>Watches</h3>
          <Watches document={document} />
        </>
      )}
      <Trim trim={document.trim} />
      <Repair repair={document.repair} />
      {operations.nodes.length > 0 && (
        <>
          <h3>Operations</h3>
          <OperationLinks operations={operations.nodes.toReversed()} />
          {operations.pageInfo.hasPreviousPage && (
            <p className="hint">
              These are the latest 50. <Link href={`/operations?${new URLSearchParams({ document: document.id }).toString()}`}>See all</Link>.
            </p>
          )}
        </>
      )}
      <h3>Timeline</h3>
      <Timeline changes={document.changes} named />
    </>
  );
}

function Watches({ document: { watches } }: { document: DocumentDetail }) {
  const hrefTo = useOpenHref();
  return (
    <ul className="links">
      {watches.map((watch) => (
        <li key={watch.id}>
          <Badge state={watch.status} />
          <Link href={hrefTo({ node: watch.id })}>
            {watch.connectorName} <span className="id">{watch.watchedSourceId}</span>
          </Link>
          <small>{watch.nextAttemptAt !== null && <Due at={watch.nextAttemptAt} />}</small>
        </li>
      ))}
    </ul>
  );
}

function Trim({ trim }: { trim: DocumentDetail['trim'] }) {
  if (!trim) return null;
  return (
    <>
      <h3>Left out of the provider’s copy</h3>
      <p className="hint">
        By {trim.connectorName}, <Time at={trim.updatedAt} />
      </p>
      <Json value={trim.trimmedFields} name="Trimmed fields" />
    </>
  );
}

function Repair({ repair }: { repair: DocumentDetail['repair'] }) {
  if (!repair) return null;
  return (
    <>
      <h3>Repair that it waits for</h3>
      <dl>
        <Field name="Is to be">{repair.present ? 'there' : 'gone'}</Field>
        <Field name="With digest">{repair.valueDigest ?? <Nothing />}</Field>
        <Field name="Decided at">
          <code>{repair.decisionHlc}</code>
        </Field>
        <Field name="Asked for at">
          <code>{repair.fetchHlc}</code>
        </Field>
        <Field name="Put">
          <Time at={repair.writtenAt} />
        </Field>
      </dl>
    </>
  );
}
