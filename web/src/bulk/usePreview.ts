// What a bulk act would touch: how many rows the filter finds, and what would become of the first of them.
import { useEffect, useState } from 'react';
import type { Plan, Target } from './plans';

export interface Previewed {
  count: number;
  exact: boolean;
  // The first page.
  sample: readonly Target[];
  // How many of the sample would be touched.
  touched: number;
}

export interface PreviewState {
  value: Previewed | undefined;
  error: unknown;
}

export function usePreview(plan: Plan | undefined): PreviewState {
  const [state, setState] = useState<PreviewState & { of: Plan | undefined }>({ of: undefined, value: undefined, error: undefined });
  useEffect(() => {
    if (!plan) return undefined;
    let current = true;
    Promise.all([plan.count(), plan.targets().next()]).then(
      ([{ count, exact }, { value }]) => {
        const sample: readonly Target[] = Array.isArray(value) ? value : [];
        const touched = sample.filter(({ why }) => why === undefined).length;
        if (current) setState({ of: plan, value: { count, exact, sample, touched }, error: undefined });
      },
      (error: unknown) => {
        if (current) setState({ of: plan, value: undefined, error });
      },
    );
    return () => {
      current = false;
    };
  }, [plan]);
  return state.of === plan ? state : { value: undefined, error: undefined };
}
