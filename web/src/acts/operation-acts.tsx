// What a person may do to one operation.
import { useState } from 'react';
import { useViewer } from '../graphql/useViewer';
import type { DeferReason } from '../graphql/generated';
import type { OperationDetail } from '../detail/useDetail';
import { DEFER_OPTIONS } from '../operations/filters';
import { toLocal } from '../ui/filter-bar';
import { useTicking } from '../ui/time';
import { SEND_MEANING } from '../ui/words';
import { ActDialog } from './act-dialog';
import { ActButtons } from './buttons';
import { newOperationId } from './new-operation-id';
import { defer, driveNow, markDead, reissue } from './perform';
import { whyNot, type OperationAct } from './reasons';

interface Props {
  operation: OperationDetail;
}

interface DialogProps extends Props {
  onClose: () => void;
  onDone: (say: string) => void;
}

export function OperationActs({ operation }: Props) {
  const viewer = useViewer();
  // Reasons tell how long a lease still runs, so they move with the clock.
  useTicking(String);
  const why = (act: OperationAct): string | undefined => whyNot(act, operation, viewer);
  return (
    <ActButtons
      acts={[
        { key: 'drive', label: 'Drive now…', why: why('drive'), dialog: (onClose, onDone) => <DriveDialog {...{ operation, onClose, onDone }} /> },
        { key: 'defer', label: 'Defer…', why: why('defer'), dialog: (onClose, onDone) => <DeferDialog {...{ operation, onClose, onDone }} /> },
        { key: 'reissue', label: 'Reissue…', why: why('reissue'), dialog: (onClose, onDone) => <ReissueDialog {...{ operation, onClose, onDone }} /> },
        { key: 'dead', label: 'Mark dead…', why: why('dead'), danger: true, dialog: (onClose, onDone) => <DeadDialog {...{ operation, onClose, onDone }} /> },
      ]}
    />
  );
}

function DriveDialog({ operation, onClose, onDone }: DialogProps) {
  return (
    <ActDialog
      title="Drive now"
      about={<p>Makes it due now, whatever it waits for. The next worker that asks for due work may take it.</p>}
      confirm="Drive now"
      perform={(note) => driveNow(operation.id, note)}
      onClose={onClose}
      onDone={onDone}
    />
  );
}

const SOON: readonly (readonly [string, number])[] = [
  ['15 min', 15],
  ['1 h', 60],
  ['8 h', 480],
  ['1 d', 1_440],
];

function inMinutes(minutes: number): string {
  return toLocal(new Date(Date.now() + minutes * 60_000).toISOString());
}

function DeferDialog({ operation, onClose, onDone }: DialogProps) {
  const [at, setAt] = useState(() => inMinutes(60));
  const [reason, setReason] = useState<DeferReason | ''>('');
  return (
    <ActDialog
      title="Defer"
      about={<p>Nobody drives it before that time. An attempt is not counted.</p>}
      confirm="Defer"
      perform={(note) => defer(operation.id, new Date(at).toISOString(), reason === '' ? null : reason, note)}
      onClose={onClose}
      onDone={onDone}
    >
      <label className="line">
        <span>Until</span>
        <input
          type="datetime-local"
          required
          value={at}
          onChange={(event) => {
            setAt(event.target.value);
          }}
        />
      </label>
      <p className="line">
        <span />
        <span className="soon">
          {SOON.map(([name, minutes]) => (
            <button
              key={name}
              type="button"
              className="chip"
              onClick={() => {
                setAt(inMinutes(minutes));
              }}
            >
              {name}
            </button>
          ))}
        </span>
      </p>
      <label className="line">
        <span>It waits for</span>
        <select
          value={reason}
          onChange={(event) => {
            setReason(event.target.value as DeferReason | '');
          }}
        >
          <option value="">nothing but the time</option>
          {DEFER_OPTIONS.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </ActDialog>
  );
}

function ReissueDialog({ operation, onClose, onDone }: DialogProps) {
  const [operationId, setOperationId] = useState(() => newOperationId(operation.operationId));
  return (
    <ActDialog
      title="Reissue"
      about={
        <>
          <p>Claims the same write again under a new id, with the stored intent. A worker may take it at once.</p>
          {operation.state === 'RECONCILE_ONLY' && (
            <p className="warning">
              Nobody knows whether this write arrived. Look at the provider first: if it did, the reissue may write it twice. This
              operation is dead afterwards.
            </p>
          )}
        </>
      }
      confirm="Reissue"
      perform={(note) => reissue(operation.id, operation.version, operationId.trim(), note)}
      onClose={onClose}
      onDone={onDone}
    >
      <label className="line">
        <span>New operation id</span>
        <input
          type="text"
          required
          maxLength={512}
          spellCheck={false}
          value={operationId}
          onChange={(event) => {
            setOperationId(event.target.value);
          }}
        />
      </label>
    </ActDialog>
  );
}

function DeadDialog({ operation, onClose, onDone }: DialogProps) {
  return (
    <ActDialog
      title="Mark dead"
      about={
        <>
          <p>Takes the lease and gives the operation up for good: no worker sends it any more. It may be reissued later.</p>
          {operation.sendState !== 'UNSENT' && <p className="warning">{SEND_MEANING[operation.sendState]}. Look at the provider first.</p>}
        </>
      }
      confirm="Mark dead"
      danger
      perform={(note) => markDead(operation.id, note)}
      onClose={onClose}
      onDone={onDone}
    />
  );
}
