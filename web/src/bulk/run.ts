// Does one act to everything that a filter finds, a few at a time, until it is done, cancelled or at its bound.
import { explain } from '../graphql/explain';
import type { Plan, Target } from './plans';

export interface Outcome {
  id: string;
  name: string;
  state: string;
  kind: 'done' | 'refused' | 'skipped';
  say: string;
}

// How many rows one run looks at: what is beyond is for another run, so that a wrong filter does bounded harm.
export const BOUND = 10_000;
const AT_ONCE = 6;

// How it ended: everything was looked at, it was cancelled, or there is more than one run looks at.
export type End = 'all' | 'cancelled' | 'bound';

export async function run(plan: Plan, note: string, signal: AbortSignal, tell: (outcome: Outcome) => void): Promise<End> {
  let seen = 0;
  for await (const targets of plan.targets()) {
    const queue = targets.slice(0, BOUND - seen);
    seen += queue.length;
    const worker = async (): Promise<void> => {
      for (let target = queue.shift(); target && !signal.aborted; target = queue.shift()) tell(await outcomeOf(target, note));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    if (signal.aborted) return 'cancelled';
    if (seen >= BOUND) return 'bound';
  }
  return 'all';
}

async function outcomeOf({ id, name, state, why, act }: Target, note: string): Promise<Outcome> {
  if (why !== undefined) return { id, name, state, kind: 'skipped', say: why };
  try {
    const { done, say } = await act(note);
    return { id, name, state, kind: done ? 'done' : 'refused', say };
  } catch (error) {
    return { id, name, state, kind: 'refused', say: explain(error).what };
  }
}
