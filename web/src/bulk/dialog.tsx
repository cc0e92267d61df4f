// Acts over a filter: choose one, see what it would touch, say why, run it, see what came of each row.
import { useState } from 'react';
import { Note } from '../acts/act-dialog';
import { useViewer } from '../graphql/useViewer';
import { Dialog } from '../ui/dialog';
import { Copy, Trouble } from '../ui/parts';
import { plansFor, type Of, type Plan } from './plans';
import { Preview } from './preview';
import { Results } from './results';
import { BOUND } from './run';
import { useRun, type RunState } from './useRun';
import { usePreview, type Previewed } from './usePreview';

export function BulkDialog({ of, onClose }: { of: Of; onClose: () => void }) {
  const viewer = useViewer();
  const [plans] = useState(() => plansFor(of, viewer));
  const [plan, setPlan] = useState<Plan | undefined>(plans[0]);
  const [note, setNote] = useState('');
  const run = useRun();
  const previewed = usePreview(plan);
  if (!plan) return null;
  return (
    <Dialog title="Act on all that this filter finds" onClose={onClose} wide busy={run.phase === 'running'}>
      {run.phase === 'idle' ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run.start(plan, note);
          }}
        >
          <Choice plans={plans} plan={plan} onChoose={setPlan} />
          <Preview previewed={previewed} />
          <Note value={note} onChange={setNote} />
          <p className="actions">
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" className="primary" disabled={!previewed.value || previewed.value.touched === 0}>
              {plan.name} {previewed.value && countOf(previewed.value)}
            </button>
          </p>
        </form>
      ) : (
        <>
          <Running run={run} plan={plan} total={previewed.value?.count ?? 0} />
          <Results outcomes={run.outcomes} />
          <p className="actions">
            {run.outcomes.length > 0 && <Copy text={() => JSON.stringify(run.outcomes, null, 2)} label="Copy as JSON: the results" named />}
            {run.phase === 'running' ? (
              <button type="button" className="danger" onClick={run.cancel}>
                Cancel the rest
              </button>
            ) : (
              <button type="button" className="primary" onClick={onClose}>
                Close
              </button>
            )}
          </p>
        </>
      )}
    </Dialog>
  );
}

function countOf({ count, exact }: Previewed): string {
  return exact && count <= BOUND ? `all ${count.toLocaleString('en')}` : `the first ${BOUND.toLocaleString('en')}`;
}

function Choice({ plans, plan, onChoose }: { plans: readonly Plan[]; plan: Plan; onChoose: (plan: Plan) => void }) {
  return (
    <fieldset className="choice">
      <legend className="unseen">What is to be done</legend>
      {plans.map((one) => (
        <label key={one.key}>
          <input
            type="radio"
            name="act"
            checked={one === plan}
            onChange={() => {
              onChoose(one);
            }}
          />
          <span>
            <strong>{one.name}</strong> <small>{one.about}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

const ENDS = {
  all: 'Everything that the filter found was looked at.',
  cancelled: 'Cancelled: the rest was left alone.',
  bound: `One run looks at ${BOUND.toLocaleString('en')} rows. Run it again for the rest.`,
} as const;

function Running({ run: { phase, outcomes, end, error }, plan, total }: { run: RunState; plan: Plan; total: number }) {
  const goal = Math.max(1, Math.min(total, BOUND), outcomes.length);
  const done = outcomes.filter(({ kind }) => kind === 'done').length;
  return (
    <div className="running">
      <progress aria-label={`${plan.name}: progress`} max={goal} value={phase === 'ended' && end !== 'cancelled' ? goal : outcomes.length} />
      <p role="status">
        {phase === 'running' ? `${plan.name}: ${outcomes.length.toLocaleString('en')} of ${goal.toLocaleString('en')} looked at.` : end && ENDS[end]}{' '}
        {done.toLocaleString('en')} done, {(outcomes.length - done).toLocaleString('en')} not.
      </p>
      {error !== undefined && <Trouble error={error} />}
    </div>
  );
}
