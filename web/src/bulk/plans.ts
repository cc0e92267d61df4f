// The acts that can be done to everything that a filter finds: what each touches, and how.
import { newOperationId } from '../acts/new-operation-id';
import { driveNow, reissue, repull, type Result } from '../acts/perform';
import { whyNoRepull, whyNot } from '../acts/reasons';
import { read } from '../graphql/client';
import {
  OperationCountDocument,
  OperationsDocument,
  WatchCountDocument,
  WatchesDocument,
  type OperationFilter,
  type OperationRowFragment,
  type OperationState,
  type WatchFilter,
  type WatchRowFragment,
} from '../graphql/generated';
import type { Viewer } from '../graphql/session';
import { shorten, words } from '../ui/words';

export interface Target {
  id: string;
  name: string;
  state: string;
  // Why it is left alone. undefined: it is touched.
  why: string | undefined;
  act: (note: string) => Promise<Result>;
}

export interface Plan {
  key: string;
  name: string;
  about: string;
  count: () => Promise<{ count: number; exact: boolean }>;
  // Everything that the filter finds, page by page, in an order that the act does not change.
  targets: () => AsyncGenerator<Target[]>;
}

export type Of = { readonly operations: OperationFilter } | { readonly watches: WatchFilter };

export function plansFor(of: Of, viewer: Viewer): readonly Plan[] {
  if ('watches' in of) return [repullPlan(of.watches, viewer)];
  return [reissuePlan(of.operations, viewer), drivePlan(of.operations, viewer)];
}

function reissuePlan(filter: OperationFilter, viewer: Viewer): Plan {
  return {
    ...operations(narrowed(filter, ['DEAD', 'RECONCILE_ONLY']), (operation) => ({
      ...named(operation),
      why: whyNot('reissue', operation, viewer),
      act: (note) => reissue(operation.id, operation.version, newOperationId(operation.operationId), note),
    })),
    key: 'reissue',
    name: 'Reissue',
    about: 'Claims each dead or doubtful write again under a new id. What is in doubt is dead afterwards: look at the provider first.',
  };
}

function drivePlan(filter: OperationFilter, viewer: Viewer): Plan {
  return {
    ...operations(narrowed(filter, ['ATTEMPTED']), (operation) => ({
      ...named(operation),
      why: whyNot('drive', operation, viewer),
      act: (note) => driveNow(operation.id, note),
    })),
    key: 'drive',
    name: 'Drive now',
    about: 'Makes each waiting write due now, whatever it waits for.',
  };
}

// An act looks only at what may be in a state for it: a filter that finds a million is not read through for the few.
function narrowed(filter: OperationFilter, states: readonly OperationState[]): OperationFilter {
  return { ...filter, states: states.filter((state) => filter.states?.includes(state) ?? true) };
}

function named({ id, op, model, operationId, state }: OperationRowFragment): Pick<Target, 'id' | 'name' | 'state'> {
  return { id, name: `${words(op)} ${model} ${shorten(operationId)}`, state };
}

const PAGE = 100;

function operations(filter: OperationFilter, toTarget: (operation: OperationRowFragment) => Target): Pick<Plan, 'count' | 'targets'> {
  return {
    async count() {
      const { operations } = await read(OperationCountDocument, { filter });
      return { count: operations.totalCount, exact: operations.totalCountExact };
    },
    async *targets() {
      let after: string | undefined;
      do {
        // The time of the claim is never moved by an act.
        const page: { after?: string } = after === undefined ? {} : { after };
        const { operations } = await read(OperationsDocument, { filter, orderBy: 'CREATED_ASC', first: PAGE, ...page });
        yield operations.edges.map(({ node }) => toTarget(node));
        after = operations.pageInfo.hasNextPage ? operations.edges.at(-1)?.cursor : undefined;
      } while (after !== undefined);
    },
  };
}

function repullPlan(filter: WatchFilter, viewer: Viewer): Plan {
  const toTarget = (watch: WatchRowFragment): Target => ({
    id: watch.id,
    name: `${watch.model} ${shorten(watch.watchedSourceId)}`,
    state: watch.status,
    why: whyNoRepull(watch, viewer),
    act: async (note) => (await repull([watch.id], note))[0] ?? { done: false, say: 'The server answered nothing.' },
  });
  return {
    key: 'repull',
    name: 'Re-pull',
    about: 'Opens a new generation of each watch, due now: the provider is read again.',
    async count() {
      const { watches } = await read(WatchCountDocument, { filter });
      return { count: watches.totalCount, exact: watches.totalCountExact };
    },
    async *targets() {
      let after: string | undefined;
      do {
        const page: { after?: string } = after === undefined ? {} : { after };
        const { watches } = await read(WatchesDocument, { filter, first: PAGE, ...page });
        yield watches.edges.map(({ node }) => toTarget(node));
        after = watches.pageInfo.hasNextPage ? watches.edges.at(-1)?.cursor : undefined;
      } while (after !== undefined);
    },
  };
}
