// The list of operations.
import { useCallback, useMemo, useState } from 'react';
import { BulkDialog } from '../bulk/dialog';
import { LiveTable } from '../live/LiveTable';
import { anyFilter, sameOpened, useFilters, useOpened, useOpenHref, type Filters } from '../ui/address';
import { FilterBar } from '../ui/filter-bar';
import { LookUp } from '../ui/look-up';
import { STATE_MEANING, words } from '../ui/words';
import { operationColumns } from './columns';
import { FirstOperation, NoMatch } from './empty';
import { DUE_FIELDS, FIELDS, NAMES, STATES, sortOf, toFilter, type Sort } from './filters';
import { dueSource, operationSource, searchSource } from './source';

const CHIPS = { name: 'state', words: STATES.map((value) => ({ value, meaning: STATE_MEANING[value] })) };

export function OperationsView() {
  const filters = useFilters(NAMES);
  const sort = sortOf(filters);
  const filter = useMemo(() => toFilter(filters), [filters]);
  const text = filters.one('q');
  const source = useMemo(() => {
    if (text !== '') return searchSource(text, filter);
    return sort === 'DUE' ? dueSource(filter) : operationSource(filter, sort);
  }, [text, filter, sort]);
  const setSort = useCallback(
    (sort: Sort) => {
      filters.set({ sort: [sort === 'UPDATED_DESC' ? '' : sort.toLowerCase()] });
    },
    [filters],
  );
  const columns = useMemo(() => operationColumns(sort, setSort), [sort, setSort]);
  const [bulk, setBulk] = useState(false);
  const opened = useOpened();
  const hrefTo = useOpenHref();
  const due = sort === 'DUE' && text === '';
  return (
    <main id="main" className="filled">
      <div className="heading">
        <h1>Operations</h1>
        <DueSwitch due={due} setSort={setSort} />
        <Find key={text} filters={filters} />
      </div>
      <LiveTable
        bar={<FilterBar filters={filters} {...(!due && { chips: CHIPS })} fields={due ? DUE_FIELDS : FIELDS} />}
        name={due ? 'Operations that are due, the longest due first' : 'Operations'}
        source={source}
        columns={columns}
        hrefOf={({ id }) => hrefTo({ node: id })}
        isOpen={({ id }) => sameOpened(opened, { node: id })}
        label={({ op, model, operationId }) => `${words(op)} ${model} ${operationId}`}
        empty={due ? <NothingDue /> : anyFilter(filters, ['sort']) ? <NoMatch what="operation" /> : <FirstOperation />}
        tools={
          !due && text === '' && (
            <button
              type="button"
              onClick={() => {
                setBulk(true);
              }}
            >
              Act on all…
            </button>
          )
        }
      />
      {bulk && (
        <BulkDialog
          of={{ operations: filter }}
          onClose={() => {
            setBulk(false);
          }}
        />
      )}
    </main>
  );
}

function Find({ filters }: { filters: Filters }) {
  const find = (text: string): void => {
    filters.set({ q: [text] });
  };
  return (
    <LookUp
      label="Any id of an operation, or its beginning"
      hint="Find by any id"
      act="Find"
      found={filters.one('q')}
      onFind={find}
      // The cross in the field empties it: that is meant at once.
      onEmpty={() => {
        filters.set({ q: [] });
      }}
    />
  );
}

function DueSwitch({ due, setSort }: { due: boolean; setSort: (sort: Sort) => void }) {
  return (
    <div className="switch" role="group" aria-label="Which operations">
      <button
        type="button"
        aria-pressed={!due}
        onClick={() => {
          setSort('UPDATED_DESC');
        }}
      >
        All
      </button>
      <button
        type="button"
        aria-pressed={due}
        title="What a worker may drive now, the longest due first"
        onClick={() => {
          setSort('DUE');
        }}
      >
        Due now
      </button>
    </div>
  );
}

function NothingDue() {
  return (
    <section className="empty">
      <h2>Nothing is due</h2>
      <p>
        Every live operation is in somebody’s work or waits for its time. What comes due, or whose lease ends, shows here the
        longest due first: it is what a worker takes next.
      </p>
    </section>
  );
}
