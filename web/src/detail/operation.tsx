// One operation in full: where it stands, who holds it, what was claimed, what happened.
import { Badge, Field, Id, Json, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { DEFER_MEANING, SEND_MEANING, STATE_MEANING, words } from '../ui/words';
import { Timeline } from './timeline';
import type { OperationDetail } from './useDetail';

export function OperationSections({ operation }: { operation: OperationDetail }) {
  return (
    <>
      <p className="standing">
        <Badge state={operation.state} /> {STATE_MEANING[operation.state]}.
      </p>
      <Standing operation={operation} />
      <h3>Timeline</h3>
      <Timeline changes={operation.changes} />
      <h3>Envelope</h3>
      <Envelope operation={operation} />
      {operation.reissueIntent !== null && (
        <>
          <h3>Stored intent</h3>
          <Json value={operation.reissueIntent} />
        </>
      )}
      {operation.resultEntity !== null && (
        <>
          <h3>Result</h3>
          <Json value={operation.resultEntity} />
        </>
      )}
    </>
  );
}

function Standing({ operation }: { operation: OperationDetail }) {
  const { state, sendState, lease, nextAttemptAt, deferReason, lastKind, lastHttpStatus, document } = operation;
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
      {document && <Field name="Document is">{words(document.writeState)}</Field>}
      <Field name="Version">{operation.version}</Field>
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
    <>
      held, ends <Time at={lease.expiresAt} />
    </>
  ) : (
    <>
      expired <Time at={lease.expiresAt} />: anyone may take it
    </>
  );
}

function Envelope({ operation }: { operation: OperationDetail }) {
  const fields: readonly (readonly [string, string | null])[] = [
    ['Operation id', operation.operationId],
    ['Caller', operation.callerDid],
    ['Owner', operation.ownerDid],
    ['Connector', operation.connectorName],
    ['Model', operation.model],
    ['Account', operation.accountKey],
    ['Target', operation.target],
    ['Source id', operation.sourceId],
    ['Document', operation.documentId],
    ['Event id', operation.deterministicEventId],
    ['Payload hash', operation.payloadHash],
    ['Provider etag', operation.providerEtag],
  ];
  return (
    <dl className="envelope">
      {fields.map(([name, value]) => (
        <Field key={name} name={name}>
          {value === null ? <Nothing /> : <Id value={value} full />}
        </Field>
      ))}
    </dl>
  );
}
