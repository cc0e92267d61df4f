// A document's write state as one sentence that says why.
import type { DocumentRowFragment } from '../graphql/generated';
import { DEFER_MEANING, WRITE_STATE_MEANING } from '../ui/words';

export function sentence(document: DocumentRowFragment): string {
  return [WRITE_STATE_MEANING[document.writeState], why(document)].filter(Boolean).join(' ');
}

// What a list says beside the state itself: why it is so.
export function reason(document: DocumentRowFragment): string {
  return document.writeState === 'IN_SYNC' ? 'The provider was seen to show it.' : why(document);
}

function why({ writeState, inFlight, lastCommit, lastFailure, watch }: DocumentRowFragment): string {
  switch (writeState) {
    case 'PENDING':
    case 'NEEDS_RECONCILE':
      return [several(inFlight.length), waiting(inFlight), lastCommit ? 'An earlier write was committed.' : 'Nothing was committed before.'].join(' ').trim();
    case 'FAILED': {
      const answer = [lastFailure?.lastKind, lastFailure?.lastHttpStatus && `HTTP ${String(lastFailure.lastHttpStatus)}`].filter(Boolean).join(', ');
      const before = lastCommit ? 'What was committed before still stands.' : 'Nothing was committed before.';
      return answer ? `The last answer was: ${answer}. ${before}` : before;
    }
    case 'DIVERGED':
      return watch ? `${checks(watch.attempts)} found something else than the winner.` : '';
    case 'VERIFYING':
      return watch && watch.attempts > 0 ? `${checks(watch.attempts)} so far found something else.` : 'No check has ended yet.';
    case 'COMMITTED':
      return 'No watch stands on it.';
    case 'IN_SYNC':
    case 'NONE':
      return '';
  }
}

function checks(count: number): string {
  return count === 1 ? '1 check' : `${String(count)} checks`;
}

function several(count: number): string {
  return count > 1 ? `${String(count)} operations are in flight.` : '';
}

function waiting(inFlight: DocumentRowFragment['inFlight']): string {
  const reason = inFlight.find(({ deferReason }) => deferReason !== null)?.deferReason;
  return reason ? `It ${DEFER_MEANING[reason]}.` : '';
}
