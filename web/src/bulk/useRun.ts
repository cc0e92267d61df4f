// A bulk run as a component sees it: what came of each row so far, and how it ended.
import { useEffect, useRef, useState } from 'react';
import type { Plan } from './plans';
import { run, type End, type Outcome } from './run';

export interface RunState {
  phase: 'idle' | 'running' | 'ended';
  outcomes: readonly Outcome[];
  end: End | undefined;
  error: unknown;
}

const IDLE: RunState = { phase: 'idle', outcomes: [], end: undefined, error: undefined };
// Results are shown this often, so that a fast run does not spend its time on showing.
const SHOW_MS = 150;

export function useRun(): RunState & { start: (plan: Plan, note: string) => void; cancel: () => void } {
  const [state, setState] = useState(IDLE);
  const abort = useRef<AbortController>(undefined);
  useEffect(
    () => () => {
      abort.current?.abort();
    },
    [],
  );
  const start = (plan: Plan, note: string): void => {
    const controller = new AbortController();
    abort.current = controller;
    const outcomes: Outcome[] = [];
    setState({ ...IDLE, phase: 'running' });
    const showing = setInterval(() => {
      setState((before) => ({ ...before, outcomes: [...outcomes] }));
    }, SHOW_MS);
    const ended = (rest: { end?: End; error?: unknown }): void => {
      clearInterval(showing);
      setState({ phase: 'ended', outcomes, end: rest.end, error: rest.error });
    };
    run(plan, note, controller.signal, (outcome) => outcomes.push(outcome)).then(
      (end) => {
        ended({ end });
      },
      (error: unknown) => {
        ended({ error });
      },
    );
  };
  const cancel = (): void => {
    abort.current?.abort();
  };
  return { ...state, start, cancel };
}
