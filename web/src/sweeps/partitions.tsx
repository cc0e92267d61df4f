// The receipts, partition by partition: how far each relist's candidates are, and what holds the checkpoint back.
import { useCallback, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { read } from '../graphql/client';
import { SweepReceiptsDocument, type ReceiptFragment, type SweepReceiptFilter, type SweepReceiptsQuery } from '../graphql/generated';
import { useRefreshed } from '../live/useRefreshed';
import { useOpenHref } from '../ui/address';
import { Trouble } from '../ui/parts';
import { Time } from '../ui/time';
import { shorten } from '../ui/words';
import { Hold } from './hold';
import { Progress } from './progress';

const PAGE = 100;
const OPTIONS = { concerns: ({ entity }: { entity: string }) => entity.startsWith('SWEEP_') };
// Of the partitions that are not done, so many are open at first.
const OPEN_AT_FIRST = 6;

export function Partitions({ filter }: { filter: SweepReceiptFilter }) {
  const [pages, setPages] = useState(1);
  const load = useCallback(() => readPages(filter, pages), [filter, pages]);
  const { value, error, reload } = useRefreshed(load, OPTIONS);
  const partitions = useMemo(() => group(value?.receipts ?? []), [value]);
  if (error !== undefined) return <Trouble error={error} retry={reload} />;
  if (!value) return <p className="hint">Reading…</p>;
  if (partitions.length === 0) return <NoReceipt />;
  const opened = new Set(partitions.filter(({ undone }) => undone).slice(0, OPEN_AT_FIRST));
  return (
    <div className="partitions">
      {partitions.map((partition) => (
        <Partition key={partition.key} of={partition} openAtFirst={opened.has(partition)} />
      ))}
      {value.hasMore && (
        <button
          type="button"
          className="more"
          onClick={() => {
            setPages(pages + 1);
          }}
        >
          Load more
        </button>
      )}
    </div>
  );
}

async function readPages(filter: SweepReceiptFilter, pages: number): Promise<{ receipts: ReceiptFragment[]; hasMore: boolean }> {
  const receipts: ReceiptFragment[] = [];
  let after: string | null = null;
  for (let page = 0; page < pages; page += 1) {
    const { sweepReceipts }: SweepReceiptsQuery = await read(SweepReceiptsDocument, { filter, first: PAGE, after });
    receipts.push(...sweepReceipts.nodes);
    after = sweepReceipts.pageInfo.endCursor;
    if (!sweepReceipts.pageInfo.hasNextPage) return { receipts, hasMore: false };
  }
  return { receipts, hasMore: true };
}

interface PartitionReceipts {
  key: string;
  // A receipt of it is not committed yet.
  undone: boolean;
  // The newest first.
  receipts: readonly ReceiptFragment[];
}

function group(receipts: readonly ReceiptFragment[]): PartitionReceipts[] {
  const groups = Map.groupBy(receipts, (receipt) => JSON.stringify([receipt.receiptOwner, receipt.receiptConnector, receipt.partition]));
  return [...groups].map(([key, receipts]) => ({
    key,
    undone: receipts.some(({ committedAt }) => committedAt === null),
    receipts: receipts.toSorted((one, other) => other.sequence - one.sequence),
  }));
}

function Partition({ of: { receipts, undone }, openAtFirst }: { of: PartitionReceipts; openAtFirst: boolean }) {
  const [open, setOpen] = useState(openAtFirst);
  const newest = receipts[0];
  if (!newest) return null;
  const oldestUndone = receipts.findLast(({ committedAt }) => committedAt === null);
  return (
    <details
      className="sheet partition"
      open={open}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <strong>{newest.partition}</strong> <span className="soft">{newest.receiptConnector}</span>{' '}
        <code className="id" title={newest.receiptOwner}>
          {shorten(newest.receiptOwner)}
        </code>
        <span className="badge" data-tone={undone ? 'busy' : 'good'}>
          {undone ? 'under way' : 'committed'}
        </span>
      </summary>
      {open && (
        <>
          {oldestUndone && <Hold receipt={oldestUndone} />}
          <ol className="receipts">
            {receipts.map((receipt) => (
              <Receipt key={receipt.id} receipt={receipt} />
            ))}
          </ol>
        </>
      )}
    </details>
  );
}

function Receipt({ receipt }: { receipt: ReceiptFragment }) {
  const hrefTo = useOpenHref();
  return (
    <li data-id={receipt.id}>
      <p className="line-up">
        <Link href={hrefTo({ node: receipt.id })}>Sequence {receipt.sequence}</Link> <span className="soft">{receipt.kind}</span>
        <small>
          {receipt.committedAt === null ? (
            <>
              recorded <Time at={receipt.receiptCreatedAt} />
            </>
          ) : (
            <>
              committed <Time at={receipt.committedAt} />
            </>
          )}
        </small>
      </p>
      <Progress progress={receipt.progress} />
    </li>
  );
}

function NoReceipt() {
  return (
    <section className="empty">
      <h2>No receipt</h2>
      <p>
        After a complete relist of a part of the provider, a connector records a receipt with the documents that the relist did not
        show. Each of them is looked at again before it is taken for deleted; once all are resolved, the checkpoint moves on.
      </p>
    </section>
  );
}
