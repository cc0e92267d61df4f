// Shows what a bulk act would touch.
import { Badge, Trouble } from '../ui/parts';
import type { PreviewState } from './usePreview';

export function Preview({ previewed: { value, error } }: { previewed: PreviewState }) {
  if (error !== undefined) return <Trouble error={error} />;
  if (!value) return <p className="hint">Looking what it would touch…</p>;
  const { count, exact, sample, touched } = value;
  if (count === 0) return <p className="hint">The filter finds nothing now that this could be done to.</p>;
  return (
    <>
      <p>
        The filter finds <strong>{exact ? count.toLocaleString('en') : `more than ${count.toLocaleString('en')}`}</strong>. Of the first{' '}
        {sample.length}, <strong>{touched}</strong> would be touched{touched < sample.length && <> and {sample.length - touched} left alone</>}.
      </p>
      <div className="scroll" tabIndex={0} role="group" aria-label="What would be touched">
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Row</th>
              <th scope="col">What would become of it</th>
            </tr>
          </thead>
          <tbody>
            {sample.map(({ id, name, state, why }) => (
              <tr key={id}>
                <td>
                  <Badge state={state} />
                </td>
                <th scope="row">{name}</th>
                <td className={why === undefined ? undefined : 'soft'}>{why === undefined ? 'touched' : `left alone: ${why}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
