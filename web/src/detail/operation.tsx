// One operation in full: where it stands, what can be done, who holds it, what happened, what was claimed.
import { Link } from 'wouter';
import { OperationActs } from '../acts/operation-acts';
import { useOpenHref } from '../ui/address';
import { Badge, Field, Fields, Json } from '../ui/parts';
import { Countdown, Due, Time } from '../ui/time';
import { DEFER_MEANING, SEND_MEANING, STATE_MEANING, words } from '../ui/words';
import { OperationLinks } from './operation-links';
import { Timeline } from './timeline';
import type { OperationDetail } from './useDetail';

export function OperationSections({ operation }: { operation: OperationDetail }) {
  const { document, reissueIntent, resultEntity } = operation;
  return (
    <>
      <p className="standing">
        <Badge state={operation.state} /> {STATE_MEANING[operation.state]}.
        {operation.superseded && ' A newer operation on the same document exists.'}
      </p>
      <OperationActs operation={operation} />
      <Standing operation={operation} />
      <h3>Timeline</h3>
      <Timeline id={operation.id} changes={operation.changes} />
      {document && document.operations.nodes.length > 1 && (
        <>
          <h3>The document’s other operations</h3>
          <OperationLinks operations={document.operations.nodes.filter(({ id }) => id !== operation.id).toReversed()} />
          {document.operations.pageInfo.hasPreviousPage && <p className="hint">These are the latest. The document has more.</p>}
        </>
      )}
      <h3>Envelope</h3>
      <Envelope operation={operation} />
      {reissueIntent !== null && (
        <>
          <h3>Stored intent</h3>
          <Json value={reissueIntent} name="Stored intent" />
        </>
      )}
      {resultEntity !== null && (
        <>
          <h3>Result</h3>
          <Json value={resultEntity} name="Result" />
        </>
      )}
    </>
  );
}

function Standing({ operation }: { operation: OperationDetail }) {
  const { state, sendState, lease, nextAttemptAt, deferReason, lastKind, lastHttpStatus } = operation;
  const hrefTo = useOpenHref();
  return (
    <dl>
      <Field name="Lease">
        <Lease lease={lease} />
      </Field>
      <Field name="Sending">{state === 'ATTEMPTED' ? SEND_MEANING[sendState] : words(sendState)}</Field>
      <Field name="Attempts">{operation.attempts}</Field>
      {state === 'ATTEMPTED' && (
        <Field name="Next attempt">
          {nextAttemptAt === null ? 'at once' : <Due at={nextAttemptAt} />}
          {deferReason !== null && `, ${DEFER_MEANING[deferReason]}`}
        </Field>
      )}
      {(lastKind !== null || lastHttpStatus !== null) && (
        <Field name="Last answer">
          {lastKind} {lastHttpStatus !== null && `HTTP ${String(lastHttpStatus)}`}
        </Field>
      )}
      {operation.document && operation.documentId !== null && (
        <Field name="Document">
          <Link href={hrefTo({ document: operation.documentId })}>{operation.documentId}</Link> <Badge state={operation.document.writeState} />
        </Field>
      )}
      {operation.reissuedFrom && (
        <Field name="Reissued from">
          <Link href={hrefTo({ node: operation.reissuedFrom.id })}>{operation.reissuedFrom.operationId}</Link>
        </Field>
      )}
      {operation.reissuedAs && (
        <Field name="Reissued as">
          <Link href={hrefTo({ node: operation.reissuedAs.id })}>{operation.reissuedAs.operationId}</Link>{' '}
          <Badge state={operation.reissuedAs.state} />
        </Field>
      )}
      <Field name="Created">
        <Time at={operation.createdAt} />
      </Field>
      <Field name="Updated">
        <Time at={operation.updatedAt} />
      </Field>
    </dl>
  );
}

function Lease({ lease }: { lease: OperationDetail['lease'] }) {
  if (!lease) return 'free';
  return lease.live ? (
    <span className="lease">
      held, ends in <Countdown at={lease.expiresAt} />
    </span>
  ) : (
    <>
      expired <Time at={lease.expiresAt} />: anyone may take it
    </>
  );
}

function Envelope({ operation }: { operation: OperationDetail }) {
  return (
    <Fields
      fields={[
        ['Operation id', operation.operationId],
        ['Caller', operation.callerDid],
        ['Owner', operation.ownerDid],
        ['Connector', operation.connectorName],
        ['Model', operation.model],
        ['Account', operation.accountKey],
        ['Target', operation.target],
        ['Source id', operation.sourceId],
        ['Event id', operation.deterministicEventId],
        ['Payload hash', operation.payloadHash],
        ['Provider etag', operation.providerEtag],
        ['Version', String(operation.version)],
      ]}
    />
  );
}
