// How many operations are in each state and watches in each status; each number is a link to its list.
import { Link } from 'wouter';
import { STATES } from '../operations/filters';
import { compact, STATE_MEANING, toneOf, words } from '../ui/words';
import { STATUSES } from '../watches/filters';
import type { Statistics } from './view';

interface Counted {
  readonly count: number;
}

export function sum(groups: readonly Counted[] | undefined): number {
  return (groups ?? []).reduce((total, { count }) => total + count, 0);
}

export function Counts({ statistics }: { statistics: Statistics | undefined }) {
  return (
    <section aria-labelledby="counts" aria-busy={statistics === undefined}>
      <h2 id="counts">Now</h2>
      <div className="tiles">
        {STATES.map((state) => (
          <Tile
            key={state}
            name={words(state)}
            about="operations"
            meaning={STATE_MEANING[state]}
            tone={toneOf(state)}
            href={`/operations?state=${state}`}
            count={statistics && sum(statistics.operationTotals.filter((total) => total.state === state))}
          />
        ))}
        {STATUSES.map((status) => (
          <Tile
            key={status}
            name={words(status)}
            about="watches"
            meaning={STATE_MEANING[status]}
            tone={toneOf(status)}
            href={`/watches?status=${status}`}
            count={statistics && sum(statistics.watchTotals.filter((total) => total.status === status))}
          />
        ))}
        <Tile
          name="due now"
          about="operations"
          meaning="Due, and nobody works on them; counted to 10,000"
          tone="plain"
          href="/operations?sort=due"
          count={statistics?.dueOperations}
        />
        <Tile
          name="due now"
          about="watches"
          meaning="Due, and nobody works on them; counted to 10,000"
          tone="plain"
          href="/watches?view=due"
          count={statistics?.dueWatches}
        />
      </div>
    </section>
  );
}

interface TileProps {
  name: string;
  about: string;
  meaning: string;
  tone: string;
  href: string;
  count: number | undefined;
}

function Tile({ name, about, meaning, tone, href, count }: TileProps) {
  return (
    <Link href={href} className="tile" data-tone={tone} title={meaning}>
      <b className="figure" title={count?.toLocaleString()}>
        {count === undefined ? '…' : count < 100_000 ? count.toLocaleString('en') : compact(count)}
      </b>
      <span>{name}</span>
      <small>{about}</small>
    </Link>
  );
}
