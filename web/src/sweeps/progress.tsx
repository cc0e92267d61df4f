// How far the candidates of a relist are, as a bar and as numbers.
import type { ReceiptFragment, SweepCandidateState } from '../graphql/generated';
import { Bar } from '../ui/bar';
import { CANDIDATE_MEANING, toneOf, words } from '../ui/words';

export const CANDIDATE_STATES: readonly SweepCandidateState[] = ['APPLIED', 'PRESENT', 'ABSENT', 'CANCELLED', 'PENDING', 'REFUSED'];
// They hold a checkpoint back.
export const UNRESOLVED: readonly SweepCandidateState[] = ['PENDING', 'PRESENT', 'ABSENT', 'CANCELLED'];

export function unresolvedOf(progress: ReceiptFragment['progress']): number {
  return progress.filter(({ state }) => UNRESOLVED.includes(state)).reduce((sum, { count }) => sum + count, 0);
}

export function Progress({ progress }: { progress: ReceiptFragment['progress'] }) {
  const parts = CANDIDATE_STATES.flatMap((state) => progress.filter((part) => part.state === state));
  if (parts.length === 0) return <p className="hint">No candidates: the relist showed everything, or all are done.</p>;
  const label = parts.map(({ state, count }) => `${words(state)} ${String(count)}`).join(', ');
  return (
    <div className="progress">
      <Bar parts={parts} label={label} />
      <ul className="legend">
        {parts.map(({ state, count }) => (
          <li key={state} data-tone={toneOf(state)} title={CANDIDATE_MEANING[state]}>
            {words(state)} <b>{count.toLocaleString('en')}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
