// Which acts are possible on what, for whom; and if not, why. The server decides again: this only saves a person the try.
import type { Viewer } from '../graphql/session';
import type { OperationRowFragment, WatchRowFragment } from '../graphql/generated';
import { duration } from '../ui/time';

export type OperationAct = 'drive' | 'defer' | 'reissue' | 'dead';

interface Reissuable {
  readonly reissuedAs?: { readonly operationId: string } | null;
}

const SETTLED = 'It is settled already.';
const NOT_LIVE = 'A person must look first: reissue it or mark it dead.';

// undefined: it is possible.
export function whyNot(act: OperationAct, operation: OperationRowFragment & Reissuable, viewer: Viewer): string | undefined {
  return forbidden(operation.callerDid, viewer, 'caller') ?? wrongState(act, operation) ?? held(operation);
}

function wrongState(act: OperationAct, { state, reissuedAs, nextAttemptAt, deferReason }: OperationRowFragment & Reissuable): string | undefined {
  const settled = state === 'COMMITTED' || state === 'DEAD';
  switch (act) {
    case 'drive':
      if (settled) return SETTLED;
      if (state !== 'ATTEMPTED') return NOT_LIVE;
      return deferReason === null && isDue(nextAttemptAt) ? 'It is due already: a worker may take it at any time.' : undefined;
    case 'defer':
      if (settled) return SETTLED;
      return state === 'ATTEMPTED' ? undefined : NOT_LIVE;
    case 'dead':
      return settled ? SETTLED : undefined;
    case 'reissue':
      if (reissuedAs) return `It was reissued already, as ${reissuedAs.operationId}.`;
      return state === 'DEAD' || state === 'RECONCILE_ONLY' ? undefined : 'Only a dead operation, or one that a person must look at, is reissued.';
  }
}

function isDue(at: string | null): boolean {
  return at === null || Date.parse(at) <= Date.now();
}

function held({ lease }: OperationRowFragment): string | undefined {
  const left = lease ? Date.parse(lease.expiresAt) - Date.now() : 0;
  return left > 0 ? `Somebody works on it: the lease ends in ${duration(left)}, unless it is renewed.` : undefined;
}

export function whyNoRepull(watch: WatchRowFragment, viewer: Viewer): string | undefined {
  return forbidden(watch.ownerDid, viewer, 'owner');
}

function forbidden(own: string, { did, roles }: Viewer, name: string): string | undefined {
  if (did === null || did === own || roles.includes('SERVICE') || roles.includes('OPERATOR')) return undefined;
  return `Only its ${name}, a service or an operator may do this. You are none of them.`;
}
