// The receipt of one relist in full.
import { Field, Fields, Json } from '../ui/parts';
import { Time } from '../ui/time';
import { Hold } from '../sweeps/hold';
import { Progress } from '../sweeps/progress';
import type { ReceiptDetail } from './useDetail';

export function ReceiptSections({ receipt }: { receipt: ReceiptDetail }) {
  return (
    <>
      <p className="standing">
        {receipt.committedAt === null ? 'Not committed yet.' : 'Committed: the checkpoint has passed it.'}
      </p>
      <Progress progress={receipt.progress} />
      {receipt.committedAt === null && <Hold receipt={receipt} />}
      <dl>
        <Field name="Recorded">
          <Time at={receipt.receiptCreatedAt} />
        </Field>
        {receipt.committedAt !== null && (
          <Field name="Committed">
            <Time at={receipt.committedAt} />
          </Field>
        )}
      </dl>
      <Fields
        fields={[
          ['Sequence', String(receipt.sequence)],
          ['Partition', receipt.partition],
          ['Owner', receipt.receiptOwner],
          ['Connector', receipt.receiptConnector],
          ['Provenance', receipt.provenance],
          ['Model', receipt.modelId],
          ['Kind', receipt.kind],
          ['Fetched at', receipt.sourceFetchHlc],
        ]}
      />
      <h3>Scope</h3>
      <Json value={receipt.scope} name="Scope" />
      <h3>Keep</h3>
      <Json value={receipt.keep} name="Keep" />
    </>
  );
}
