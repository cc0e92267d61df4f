// The sweeps: receipts by partition, or their candidates as a list.
import { useMemo } from 'react';
import type { SweepCandidateFilter, SweepReceiptFilter } from '../graphql/generated';
import { useFilters } from '../ui/address';
import { FilterBar, type FilterField } from '../ui/filter-bar';
import { CANDIDATE_MEANING } from '../ui/words';
import { Candidates } from './candidates';
import { Partitions } from './partitions';
import { CANDIDATE_STATES } from './progress';

const WHERE: readonly FilterField[] = [
  { name: 'connector', title: 'Connector' },
  { name: 'owner', title: 'Owner', hint: 'a DID' },
  { name: 'partition', title: 'Partition' },
];
const RECEIPT_FIELDS: readonly FilterField[] = [
  ...WHERE,
  {
    name: 'committed',
    title: 'Committed',
    options: [
      { value: 'no', title: 'not yet' },
      { value: 'yes', title: 'yes' },
    ],
  },
];
const CANDIDATE_FIELDS: readonly FilterField[] = [...WHERE, { name: 'provenance', title: 'Relist' }];
const NAMES = ['view', 'candidate', 'connector', 'owner', 'partition', 'committed', 'provenance'];
const CHIPS = { name: 'candidate', words: CANDIDATE_STATES.map((value) => ({ value, meaning: CANDIDATE_MEANING[value] })) };

export function SweepsView() {
  const filters = useFilters(NAMES);
  const candidates = filters.one('view') === 'candidates';
  const receiptFilter = useMemo<SweepReceiptFilter>(() => {
    const committed = filters.one('committed');
    return { ...where(filters.one), ...(committed !== '' && { committed: committed === 'yes' }) };
  }, [filters]);
  const candidateFilter = useMemo<SweepCandidateFilter>(() => {
    const states = CANDIDATE_STATES.filter((state) => filters.values.candidate?.includes(state));
    return {
      ...where(filters.one),
      ...(filters.one('provenance') && { provenance: filters.one('provenance') }),
      ...(states.length > 0 && { states }),
    };
  }, [filters]);
  const show = (view: string): void => {
    filters.set({ view: [view] });
  };
  const bar = <FilterBar filters={filters} {...(candidates && { chips: CHIPS })} fields={candidates ? CANDIDATE_FIELDS : RECEIPT_FIELDS} />;
  return (
    <main id="main" className={candidates ? 'filled' : undefined}>
      <div className="heading">
        <h1>Sweeps</h1>
        <div className="switch" role="group" aria-label="What of the sweeps">
          <button type="button" aria-pressed={!candidates} onClick={() => { show(''); }}>
            Partitions
          </button>
          <button type="button" aria-pressed={candidates} onClick={() => { show('candidates'); }}>
            Candidates
          </button>
        </div>
      </div>
      {candidates ? <Candidates filter={candidateFilter} bar={bar} /> : <>{bar}<Partitions filter={receiptFilter} /></>}
    </main>
  );
}

function where(one: (name: string) => string): { ownerDid?: string; connectorName?: string; partition?: string } {
  return {
    ...(one('owner') && { ownerDid: one('owner') }),
    ...(one('connector') && { connectorName: one('connector') }),
    ...(one('partition') && { partition: one('partition') }),
  };
}
