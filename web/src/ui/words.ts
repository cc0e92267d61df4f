// The words of the interface: states and ids as people read them.
import type { DeferReason, OperationState, SendState, WatchStatus } from '../graphql/generated';

export type Tone = 'busy' | 'good' | 'look' | 'bad' | 'plain';

const TONES: Record<OperationState | WatchStatus, Tone> = {
  ATTEMPTED: 'busy',
  RECONCILE_ONLY: 'look',
  COMMITTED: 'good',
  DEAD: 'bad',
  PENDING_VERIFICATION: 'busy',
  VERIFIED: 'good',
  REPAIR_FAILED: 'bad',
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
  return (STATE_MEANING as Partial<Record<string, string>>)[state];
}

// RECONCILE_ONLY, mark_send_started and httpStatus as words.
export function words(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase().replaceAll('_', ' ');
}

// The two ends of an id tell it apart; the middle rarely does.
export function shorten(id: string): string {
  return id.length <= 26 ? id : `${id.slice(0, 14)}…${id.slice(-9)}`;
}
