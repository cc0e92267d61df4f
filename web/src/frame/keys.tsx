// The list of keys.
import { Dialog } from '../ui/dialog';
import { VIEWS } from './views';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Find anything by its id'],
  ['↑ ↓', 'From row to row, once a row has the focus'],
  ['Home End', 'To the first or the last row that is read'],
  ['Enter', 'Open the row beside the list'],
  ['Esc', 'Close what is open'],
  ['?', 'This list'],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="keys">
        {[...KEYS, ...VIEWS.map((view) => [`g ${view.key}`, `Go to: ${view.name}`] as const)].map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
