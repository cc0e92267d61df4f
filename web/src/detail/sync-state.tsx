// How far a connector has read of one owner's data, in full.
import { Badge, Field, Fields, Json } from '../ui/parts';
import { Time } from '../ui/time';
import type { SyncStateDetail } from './useDetail';

export function SyncStateSections({ state }: { state: SyncStateDetail }) {
  return (
    <>
      <p className="standing">
        <Badge state={state.syncStatus} /> Read last <Time at={state.lastSyncedAt} />.
      </p>
      {state.error !== null && <blockquote className="error">{state.error}</blockquote>}
      <dl>
        <Field name="Entities">{state.entityCount.toLocaleString()}</Field>
      </dl>
      <Fields
        fields={[
          ['Connector', state.connectorName],
          ['Owner', state.ownerDid],
          ['Version', String(state.version)],
          ['Incarnation', state.syncIncarnation],
        ]}
      />
      <h3>Where the next read goes on</h3>
      <Json value={state.checkpoint} name="Checkpoint" />
      {state.recovery !== null && (
        <>
          <h3>How to go on after the error</h3>
          <Json value={state.recovery} name="Recovery" />
        </>
      )}
    </>
  );
}
