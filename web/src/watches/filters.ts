// The filters of the list of watches, as they stand in the address, and what they mean to the server.
import type { DeferReason, WatchFilter, WatchRowFragment, WatchStatus } from '../graphql/generated';
import { DEFER_OPTIONS } from '../operations/filters';
import type { Filters } from '../ui/address';
import type { FilterField } from '../ui/filter-bar';

export const STATUSES: readonly WatchStatus[] = ['PENDING_VERIFICATION', 'VERIFIED', 'REPAIR_FAILED'];
const DEFER_REASONS: readonly DeferReason[] = ['OFFLINE', 'AUTH'];

export const FIELDS: readonly FilterField[] = [
  { name: 'connector', title: 'Connector' },
  { name: 'owner', title: 'Owner', hint: 'a DID' },
  { name: 'document', title: 'Document' },
  { name: 'model', title: 'Model' },
  { name: 'defer', title: 'Waits for', options: DEFER_OPTIONS },
];

export const DUE_FIELDS: readonly FilterField[] = FIELDS.filter(({ name }) => name === 'connector' || name === 'owner');

export const NAMES: readonly string[] = ['status', 'view', ...FIELDS.map(({ name }) => name)];

export function toFilter({ one, values }: Filters): WatchFilter {
  const statuses = STATUSES.filter((status) => values.status?.includes(status));
  const reasons = DEFER_REASONS.filter((reason) => values.defer?.includes(reason));
  return {
    ...(statuses.length > 0 && { statuses }),
    ...(reasons.length > 0 && { deferReasons: reasons }),
    ...(one('connector') && { connectorName: one('connector') }),
    ...(one('owner') && { ownerDid: one('owner') }),
    ...(one('document') && { documentIds: [one('document')] }),
    ...(one('model') && { model: one('model') }),
  };
}

// The same question as the server's, asked of a row that changed.
export function fits({ statuses, deferReasons, documentIds, ...filter }: WatchFilter, row: WatchRowFragment): boolean {
  return (
    (!statuses || statuses.includes(row.status)) &&
    (!deferReasons || (row.deferReason !== null && deferReasons.includes(row.deferReason))) &&
    (!documentIds || documentIds.includes(row.watchedDocumentId)) &&
    (!filter.connectorName || filter.connectorName === row.connectorName) &&
    (!filter.ownerDid || filter.ownerDid === row.ownerDid) &&
    (!filter.model || filter.model === row.model)
  );
}
