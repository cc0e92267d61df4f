// The acts of a person on an operation or watch, each as the transitions that it is made of. What the server refuses is
// told as a sentence.
import { write } from '../graphql/client';
import {
  AcquireLeaseDocument,
  DeferOperationDocument,
  RecordOperationDocument,
  ReissueOperationDocument,
  ReleaseLeaseDocument,
  RequestRepullsDocument,
  type DeferReason,
} from '../graphql/generated';
import { words } from '../ui/words';

export interface Result {
  done: boolean;
  say: string;
}

// How long a person's own act needs a lease at most.
const LEASE_MS = 30_000;

export async function driveNow(id: string, note: string): Promise<Result> {
  return defer(id, new Date().toISOString(), null, note);
}

export async function defer(id: string, nextAttemptAt: string, reason: DeferReason | null, note: string): Promise<Result> {
  const { deferOperation } = await write(DeferOperationDocument, { input: { id, nextAttemptAt, reason, note: given(note) } });
  return outcome(deferOperation.outcome, 'DEFERRED', 'It is due when you said.');
}

// The new operation comes with a lease, which is freed at once: a worker is to drive it, not this page.
export async function reissue(id: string, version: number, operationId: string, note: string): Promise<Result> {
  const leaseToken = crypto.randomUUID();
  const input = { id, version, operationId, leaseToken, leaseMs: LEASE_MS, note: given(note) };
  const { reissueOperation } = await write(ReissueOperationDocument, { input });
  const made = reissueOperation.operation;
  if (reissueOperation.outcome === 'CLAIMED' && made) {
    await write(ReleaseLeaseDocument, { input: { id: made.id, leaseToken } });
  }
  return outcome(reissueOperation.outcome, 'CLAIMED', `Reissued as ${made?.operationId ?? operationId}. A worker may take it now.`);
}

// Takes the lease, so that no worker is in the middle of it, and records against what stands then.
export async function markDead(id: string, note: string): Promise<Result> {
  const leaseToken = crypto.randomUUID();
  const { acquireLease } = await write(AcquireLeaseDocument, { input: { id, leaseToken, leaseMs: LEASE_MS } });
  const held = acquireLease.operation;
  if (acquireLease.outcome !== 'ACQUIRED' || !held) return outcome(acquireLease.outcome, 'ACQUIRED', '');
  try {
    const { recordOperation } = await write(RecordOperationDocument, {
      input: {
        id,
        leaseToken,
        version: held.version,
        fromState: held.state,
        toState: 'DEAD',
        // How the last attempt ended stays to be read.
        kind: held.lastKind,
        httpStatus: held.lastHttpStatus,
        countAttempt: false,
        note: given(note),
      },
    });
    return outcome(recordOperation.outcome, 'RECORDED', 'It is dead: it will not be sent.');
  } finally {
    await write(ReleaseLeaseDocument, { input: { id, leaseToken } });
  }
}

export async function repull(ids: readonly string[], note: string): Promise<Result[]> {
  const inputs = ids.map((id) => ({ id, note: given(note) }));
  const { requestRepulls } = await write(RequestRepullsDocument, { inputs });
  return requestRepulls.map(({ outcome: found, watch }) =>
    outcome(found, 'OPENED', `Generation ${String(watch?.generation ?? '')} is open: the provider is read again.`),
  );
}

function given(note: string): string | null {
  return note.trim() === '' ? null : note.trim();
}

const REFUSALS: Partial<Record<string, string>> = {
  HELD: 'Somebody works on it and holds a live lease. Try again when it has ended.',
  LEASE_NOT_HELD: 'Somebody works on it and holds a live lease. Try again when it has ended.',
  WRONG_STATE: 'It has another state by now. Look at it again.',
  STALE_VERSION: 'It was changed since it was read. Look at it again.',
  NOT_FOUND: 'It is gone: it was collected, or is not yours to see.',
  INVALID_TRANSITION: 'No operation may go there from its state.',
  ALREADY_REISSUED: 'It was reissued already.',
  EXISTS: 'This very reissue was made before.',
  SETTLED: 'This very reissue was made before, and is settled.',
  CONFLICT: 'Another operation has this id. Choose another one.',
  NOOP: 'There is no such watch any more.',
};

function outcome(found: string, wanted: string, say: string): Result {
  return found === wanted ? { done: true, say } : { done: false, say: REFUSALS[found] ?? `The server answered: ${words(found)}.` };
}
