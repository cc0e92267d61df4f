// How each connector does: its operations by state, as a bar and as numbers.
import { Link } from 'wouter';
import { STATES } from '../operations/filters';
import { Bar } from '../ui/bar';
import { compact, words } from '../ui/words';
import { sum } from './counts';
import type { Statistics } from './view';

const SHOWN = 12;

export function Connectors({ statistics }: { statistics: Statistics | undefined }) {
  const groups = statistics?.operationsByState ?? [];
  const names = [...new Set(groups.map(({ connectorName }) => connectorName))];
  const connectors = names
    .map((name) => {
      const own = groups.filter(({ connectorName }) => connectorName === name);
      return { name, parts: STATES.map((state) => ({ state, count: sum(own.filter((group) => group.state === state)) })), total: sum(own) };
    })
    .sort((one, other) => other.total - one.total);
  return (
    <section className="sheet" aria-labelledby="connectors">
      <h2 id="connectors">Connectors</h2>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Connector</th>
            <th scope="col">Operations by state</th>
            <th scope="col" className="numeric">
              Live
            </th>
            <th scope="col" className="numeric">
              Dead
            </th>
            <th scope="col" className="numeric">
              All
            </th>
          </tr>
        </thead>
        <tbody>
          {connectors.slice(0, SHOWN).map(({ name, parts, total }) => (
            <tr key={name}>
              <th scope="row">{name === '' ? 'all others' : <Link href={`/operations?${new URLSearchParams({ connector: name }).toString()}`}>{name}</Link>}</th>
              <td>
                <Bar parts={parts} label={parts.map(({ state, count }) => `${words(state)} ${String(count)}`).join(', ')} />
              </td>
              <td className="numeric">{compact(count(parts, 'ATTEMPTED'))}</td>
              <td className="numeric">{compact(count(parts, 'DEAD'))}</td>
              <td className="numeric">{compact(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {connectors.length > SHOWN && <p className="hint">The {SHOWN} largest of {connectors.length}.</p>}
    </section>
  );
}

function count(parts: readonly { state: string; count: number }[], wanted: string): number {
  return parts.find(({ state }) => state === wanted)?.count ?? 0;
}
