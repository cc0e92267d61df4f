// What came of each row of a bulk run, what went wrong first.
import type { Outcome } from './run';

const SHOWN = 500;
const ORDER = { refused: 0, done: 1, skipped: 2 } as const;
const NAMES = { refused: 'refused', done: 'done', skipped: 'left alone' } as const;
const TONES = { refused: 'bad', done: 'good', skipped: 'plain' } as const;

export function Results({ outcomes }: { outcomes: readonly Outcome[] }) {
  const sorted = outcomes.toSorted((one, other) => ORDER[one.kind] - ORDER[other.kind]);
  return (
    <>
      <div className="scroll" tabIndex={0} role="group" aria-label="What came of each row">
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Outcome</th>
              <th scope="col">Row</th>
              <th scope="col">More</th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, SHOWN).map(({ id, name, kind, say }) => (
              <tr key={id}>
                <td>
                  <span className="badge" data-tone={TONES[kind]}>
                    {NAMES[kind]}
                  </span>
                </td>
                <th scope="row">{name}</th>
                <td>{say}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > SHOWN && <p className="hint">The first {SHOWN} are shown. Copy as JSON has all.</p>}
    </>
  );
}
