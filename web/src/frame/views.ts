// The views of the page, in the order of the navigation.
import type { AttentionReason } from '../graphql/generated';
import type { IconName } from '../ui/icons';

export interface View {
  path: string;
  name: string;
  icon: IconName;
  // What the number beside its name counts.
  counts?: readonly AttentionReason[];
  // The key that goes there, after `g`.
  key: string;
}

export const VIEWS: readonly View[] = [
  { path: '/', name: 'Overview', icon: 'overview', key: 'o' },
  { path: '/operations', name: 'Operations', icon: 'operations', counts: ['DEAD', 'NEEDS_RECONCILE'], key: 'p' },
  { path: '/documents', name: 'Documents', icon: 'documents', key: 'd' },
  { path: '/watches', name: 'Watches', icon: 'watches', counts: ['REPAIR_FAILED'], key: 'w' },
  { path: '/sweeps', name: 'Sweeps', icon: 'sweeps', counts: ['SWEEP_REFUSED'], key: 's' },
  { path: '/sync', name: 'Sync & hand-offs', icon: 'sync', key: 'y' },
  { path: '/feed', name: 'Feed', icon: 'feed', key: 'f' },
];

export const PLAYGROUND = '/playground';
