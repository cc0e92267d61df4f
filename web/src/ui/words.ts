// The words of the interface: states and ids as people read them.
import type {
  AttentionReason,
  DeferReason,
  DocumentWriteState,
  OperationState,
  SendState,
  SweepCandidateState,
  SyncStatus,
  WatchStatus,
} from '../graphql/generated';

export type Tone = 'busy' | 'good' | 'look' | 'bad' | 'plain';

type Named = OperationState | WatchStatus | DocumentWriteState | SweepCandidateState | SyncStatus;

const TONES: Record<Named, Tone> = {
  ATTEMPTED: 'busy',
  RECONCILE_ONLY: 'look',
  COMMITTED: 'good',
  DEAD: 'bad',
  PENDING_VERIFICATION: 'busy',
  VERIFIED: 'good',
  REPAIR_FAILED: 'bad',
  NONE: 'plain',
  PENDING: 'busy',
  NEEDS_RECONCILE: 'look',
  FAILED: 'bad',
  VERIFYING: 'busy',
  DIVERGED: 'bad',
  IN_SYNC: 'good',
  PRESENT: 'plain',
  ABSENT: 'look',
  CANCELLED: 'plain',
  APPLIED: 'good',
  REFUSED: 'bad',
  IDLE: 'plain',
  SYNCING: 'busy',
  ERROR: 'bad',
};

export const STATE_MEANING: Record<OperationState | WatchStatus, string> = {
  ATTEMPTED: 'Claimed and being driven; not settled yet',
  RECONCILE_ONLY: 'A person must look: nobody knows what the provider has',
  COMMITTED: 'The provider has it',
  DEAD: 'Given up; it will not be sent',
  PENDING_VERIFICATION: 'Waiting to be compared with what the provider shows',
  VERIFIED: 'The provider shows what the local store says',
  REPAIR_FAILED: 'The provider still differs after the last allowed check',
};

export const WRITE_STATE_MEANING: Record<DocumentWriteState, string> = {
  NONE: 'Nothing was ever written of this document.',
  PENDING: 'A write of this document is on its way.',
  NEEDS_RECONCILE: 'Nobody knows whether a write of this document arrived: a person must look at the provider.',
  FAILED: 'The newest write of this document was given up.',
  COMMITTED: 'This document is written, and nobody checks what the provider shows of it.',
  VERIFYING: 'This document is written, and the provider is being read back.',
  DIVERGED: 'This document is written, but the provider shows something else.',
  IN_SYNC: 'This document is written, and the provider was seen to show it.',
};

export const CANDIDATE_MEANING: Record<SweepCandidateState, string> = {
  PENDING: 'Nobody has looked yet, or the last look told nothing',
  PRESENT: 'The provider still has it',
  ABSENT: 'The provider has it no more',
  CANCELLED: 'It is not to be looked at any more',
  APPLIED: 'What was found is written to the local store',
  REFUSED: 'Writing it failed five times',
};

export const ATTENTION_MEANING: Record<AttentionReason, string> = {
  DEAD: 'Writes that were given up. Reissue them once the cause is gone.',
  NEEDS_RECONCILE: 'Nobody knows whether these writes arrived. Look at the provider, then reissue or mark dead.',
  REPAIR_FAILED: 'The provider still shows something else after the last check. Look there, then re-pull.',
  MAYBE_SENT: 'The send was begun and nobody works on them: the provider may have them.',
  LEASE_EXPIRED_LONG_AGO: 'The lease ended more than 5 minutes ago and nobody went on. Does a worker run?',
  WAITING_FOR_AUTH: 'They wait until somebody signs in to the provider again.',
  OFFLINE: 'They wait until the provider is reached again.',
  OVERDUE: 'Due for more than 5 minutes, and nobody works on them. Are there enough workers?',
  SWEEP_REFUSED: 'Writing what a sweep found failed five times. See the errors.',
};

export const ATTENTION_NAME: Record<AttentionReason, string> = {
  DEAD: 'Dead',
  NEEDS_RECONCILE: 'Needs reconcile',
  REPAIR_FAILED: 'Diverged',
  MAYBE_SENT: 'Maybe sent',
  LEASE_EXPIRED_LONG_AGO: 'Stuck lease',
  WAITING_FOR_AUTH: 'Waiting for auth',
  OFFLINE: 'Offline',
  OVERDUE: 'Overdue',
  SWEEP_REFUSED: 'Sweep refused',
};

export const DEFER_MEANING: Record<DeferReason, string> = {
  OFFLINE: 'waits for the network',
  AUTH: 'waits for sign-in',
};

export const SEND_MEANING: Record<SendState, string> = {
  UNSENT: 'Nothing sent in this attempt',
  STARTED: 'Send started: the provider may have it',
  CONTESTED: 'Two senders marked this attempt: the provider may have it twice',
};

export function toneOf(state: string): Tone {
  return (TONES as Partial<Record<string, Tone>>)[state] ?? 'plain';
}

export function meaningOf(state: string): string | undefined {
  const meanings: Partial<Record<string, string>> = { ...CANDIDATE_MEANING, ...WRITE_STATE_MEANING, ...STATE_MEANING };
  return meanings[state];
}

// RECONCILE_ONLY, mark_send_started and httpStatus as words.
export function words(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase().replaceAll('_', ' ');
}

// The two ends of an id tell it apart; the middle rarely does.
export function shorten(id: string): string {
  return id.length <= 26 ? id : `${id.slice(0, 14)}…${id.slice(-9)}`;
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

// 12,345 as 12.3K.
export function compact(count: number): string {
  return short.format(count);
}
