// The filters of the list of operations, as they stand in the address, and what they mean to the server.
import type {
  DeferReason,
  OperationFilter,
  OperationOrder,
  OperationRowFragment,
  OperationState,
  StuckReason,
} from '../graphql/generated';
import type { Filters } from '../ui/address';
import type { FilterField } from '../ui/filter-bar';

export const STATES: readonly OperationState[] = ['ATTEMPTED', 'RECONCILE_ONLY', 'COMMITTED', 'DEAD'];
const DEFER_REASONS: readonly DeferReason[] = ['OFFLINE', 'AUTH'];

export const DEFER_OPTIONS = [
  { value: 'OFFLINE', title: 'the network' },
  { value: 'AUTH', title: 'sign-in' },
] as const;

const STUCK: readonly StuckReason[] = ['MAYBE_SENT', 'LEASE_EXPIRED_LONG_AGO'];
// What has waited this long waits too long, as the server has it.
const LONG_MS = 300_000;

const WITHIN_MS: Record<string, number> = { '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 };

export const FIELDS: readonly FilterField[] = [
  { name: 'connector', title: 'Connector' },
  { name: 'owner', title: 'Owner', hint: 'a DID' },
  { name: 'caller', title: 'Caller', hint: 'a DID' },
  { name: 'document', title: 'Document' },
  { name: 'model', title: 'Model' },
  { name: 'defer', title: 'Waits for', options: DEFER_OPTIONS },
  {
    name: 'stuck',
    title: 'Stuck',
    options: [
      { value: 'MAYBE_SENT', title: 'as it may have been sent' },
      { value: 'LEASE_EXPIRED_LONG_AGO', title: 'under a lease long expired' },
    ],
  },
  { name: 'kind', title: 'Error kind', hint: 'as the connector calls it' },
  {
    name: 'within',
    title: 'Updated in',
    options: [
      { value: '15m', title: 'the last 15 minutes' },
      { value: '1h', title: 'the last hour' },
      { value: '24h', title: 'the last 24 hours' },
      { value: '7d', title: 'the last 7 days' },
    ],
  },
  { name: 'since', title: 'Updated since', kind: 'moment' },
  { name: 'before', title: 'Updated before', kind: 'moment' },
];

// Due work is a list of its own on the server, with these filters alone.
export const DUE_FIELDS: readonly FilterField[] = FIELDS.filter(({ name }) => name === 'connector' || name === 'owner');

export const NAMES: readonly string[] = ['state', 'sort', 'q', ...FIELDS.map(({ name }) => name)];

export type Sort = OperationOrder | 'DUE';
const SORTS: readonly Sort[] = ['UPDATED_DESC', 'UPDATED_ASC', 'CREATED_DESC', 'CREATED_ASC', 'DUE'];

export function sortOf(filters: Filters): Sort {
  return SORTS.find((sort) => sort === filters.one('sort').toUpperCase()) ?? 'UPDATED_DESC';
}

export function toFilter(filters: Filters): OperationFilter {
  const { one, values } = filters;
  const states = STATES.filter((state) => values.state?.includes(state));
  const reasons = DEFER_REASONS.filter((reason) => values.defer?.includes(reason));
  const stuck = STUCK.find((reason) => values.stuck?.includes(reason));
  const within = WITHIN_MS[one('within')];
  const since = within === undefined ? momentOf(one('since')) : new Date(Date.now() - within).toISOString();
  const before = momentOf(one('before'));
  return {
    // All of them are no filter, and cheaper to ask for.
    ...(states.length > 0 && states.length < STATES.length && { states }),
    ...(reasons.length > 0 && { deferReasons: reasons }),
    ...(one('connector') && { connectorName: one('connector') }),
    ...(one('owner') && { ownerDid: one('owner') }),
    ...(one('caller') && { callerDid: one('caller') }),
    ...(one('document') && { documentIds: [one('document')] }),
    ...(one('model') && { model: one('model') }),
    ...(one('kind') && { lastKind: one('kind') }),
    ...(stuck && { stuck }),
    ...(since !== undefined && { updatedSince: since }),
    ...(before !== undefined && { updatedBefore: before }),
  };
}

function momentOf(text: string): string | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

// The same question as the server's, asked of a row that changed.
export function fits(filter: OperationFilter, row: OperationRowFragment): boolean {
  const { states, deferReasons, documentIds, updatedSince, updatedBefore } = filter;
  return (
    (!states || states.includes(row.state)) &&
    (!deferReasons || (row.deferReason !== null && deferReasons.includes(row.deferReason))) &&
    (!documentIds || (row.documentId !== null && documentIds.includes(row.documentId))) &&
    same(filter.connectorName, row.connectorName) &&
    same(filter.ownerDid, row.ownerDid) &&
    same(filter.callerDid, row.callerDid) &&
    same(filter.model, row.model) &&
    same(filter.lastKind, row.lastKind) &&
    isStuck(filter.stuck, row) &&
    (!updatedSince || Date.parse(row.updatedAt) >= Date.parse(updatedSince)) &&
    (!updatedBefore || Date.parse(row.updatedAt) < Date.parse(updatedBefore))
  );
}

function isStuck(stuck: StuckReason | null | undefined, { state, sendState, lease, nextAttemptAt }: OperationRowFragment): boolean {
  if (!stuck) return true;
  if (state !== 'ATTEMPTED') return false;
  if (stuck === 'MAYBE_SENT') return sendState !== 'UNSENT' && !lease?.live;
  const longAgo = Date.now() - LONG_MS;
  return lease !== null && Date.parse(lease.expiresAt) < longAgo && (nextAttemptAt === null || Date.parse(nextAttemptAt) <= longAgo);
}

function same(wanted: string | null | undefined, found: string | null): boolean {
  return wanted === undefined || wanted === null || wanted === found;
}
