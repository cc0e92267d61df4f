// What needs a person's eye and why, each a link to the list of it.
import { Link } from 'wouter';
import type { AttentionReason } from '../graphql/generated';
import type { Tone } from '../ui/words';
import { ATTENTION_MEANING, ATTENTION_NAME, compact } from '../ui/words';
import { Time } from '../ui/time';

interface Shown {
  tone: Tone;
  // Where they are listed; those that are of two kinds have two lists.
  lists: readonly (readonly [name: string, href: string])[];
}

// The most urgent first.
const SHOWN: Record<AttentionReason, Shown> = {
  NEEDS_RECONCILE: { tone: 'look', lists: [['operations', '/operations?state=RECONCILE_ONLY']] },
  DEAD: { tone: 'bad', lists: [['operations', '/operations?state=DEAD']] },
  REPAIR_FAILED: { tone: 'bad', lists: [['watches', '/watches?status=REPAIR_FAILED']] },
  MAYBE_SENT: { tone: 'look', lists: [['operations', '/operations?stuck=MAYBE_SENT']] },
  LEASE_EXPIRED_LONG_AGO: { tone: 'look', lists: [['operations', '/operations?stuck=LEASE_EXPIRED_LONG_AGO']] },
  OVERDUE: { tone: 'look', lists: [['operations', '/operations?sort=due'], ['watches', '/watches?view=due']] },
  WAITING_FOR_AUTH: { tone: 'busy', lists: [['operations', '/operations?defer=AUTH'], ['watches', '/watches?defer=AUTH']] },
  OFFLINE: { tone: 'busy', lists: [['operations', '/operations?defer=OFFLINE'], ['watches', '/watches?defer=OFFLINE']] },
  SWEEP_REFUSED: { tone: 'bad', lists: [['candidates', '/sweeps?view=candidates&candidate=REFUSED']] },
};

const ORDER = Object.keys(SHOWN) as AttentionReason[];
// These are counted up to here.
const COUNTED_TO = 10_000;

interface Props {
  reasons: ReadonlyMap<AttentionReason, number> | undefined;
  oldestDueAt: string | null;
}

export function AttentionCards({ reasons, oldestDueAt }: Props) {
  const found = ORDER.filter((reason) => (reasons?.get(reason) ?? 0) > 0);
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul className="cards" aria-busy={reasons === undefined}>
        {reasons && found.length === 0 && (
          <li className="card" data-tone="good">
            <b className="figure">Nothing</b>
            <strong>All is well</strong>
            <p>No write was given up, none is in doubt, and every check that ended agreed.</p>
          </li>
        )}
        {found.map((reason) => (
          <Card key={reason} reason={reason} count={reasons?.get(reason) ?? 0} />
        ))}
        {oldestDueAt !== null && (
          <li className="card" data-tone="plain">
            <b className="figure">
              <Time at={oldestDueAt} />
            </b>
            <strong>Oldest due</strong>
            <p>Since then it is due and nobody works on it.</p>
            <p className="lists">
              <Link href="/operations?sort=due">operations</Link> <Link href="/watches?view=due">watches</Link>
            </p>
          </li>
        )}
      </ul>
    </section>
  );
}

function Card({ reason, count }: { reason: AttentionReason; count: number }) {
  const { tone, lists } = SHOWN[reason];
  return (
    <li className="card" data-tone={tone} data-reason={reason}>
      <b className="figure" title={count.toLocaleString()}>
        {compact(count)}
        {count >= COUNTED_TO && !['DEAD', 'NEEDS_RECONCILE', 'REPAIR_FAILED'].includes(reason) && '+'}
      </b>
      <strong>{ATTENTION_NAME[reason]}</strong>
      <p>{ATTENTION_MEANING[reason]}</p>
      <p className="lists">
        {lists.map(([name, href]) => (
          <Link key={href} href={href} aria-label={`${ATTENTION_NAME[reason]}: ${name}`}>
            {name}
          </Link>
        ))}
      </p>
    </li>
  );
}
