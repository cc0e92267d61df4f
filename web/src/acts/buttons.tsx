// A row of acts. One that is not possible stays where it is and says why.
import { useId, useState, type ReactNode } from 'react';

export interface Offered {
  key: string;
  label: string;
  why: string | undefined;
  danger?: boolean;
  dialog: (close: () => void, done: (say: string) => void) => ReactNode;
}

export function ActButtons({ acts }: { acts: readonly Offered[] }) {
  const id = useId();
  const [open, setOpen] = useState<string>();
  const [said, setSaid] = useState('');
  const close = (): void => {
    setOpen(undefined);
  };
  const done = (say: string): void => {
    setSaid(say);
    close();
  };
  const reasons = [...new Set(acts.flatMap(({ why }) => why ?? []))];
  return (
    <div className="acts">
      <div className="act-row">
        {acts.map(({ key, label, why, danger }) => (
          <button
            key={key}
            type="button"
            className={danger ? 'danger' : undefined}
            aria-disabled={why !== undefined}
            aria-describedby={why === undefined ? undefined : `${id}-${String(reasons.indexOf(why))}`}
            title={why}
            onClick={() => {
              if (why === undefined) setOpen(key);
            }}
          >
            {label}
          </button>
        ))}
      </div>
      {reasons.length > 0 && (
        <ul className="reasons">
          {reasons.map((reason, index) => (
            <li key={reason} id={`${id}-${String(index)}`}>
              <b>{acts.filter(({ why }) => why === reason).map(({ label }) => label.replace('…', '')).join(', ')}:</b> {reason}
            </li>
          ))}
        </ul>
      )}
      <p className="said" role="status">
        {said}
      </p>
      {acts.find(({ key }) => key === open)?.dialog(close, done)}
    </div>
  );
}
