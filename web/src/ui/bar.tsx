// Parts of a whole as one bar, coloured as the states' badges are.
import { toneOf, words } from './words';

export interface Part {
  readonly state: string;
  readonly count: number;
}

export function Bar({ parts, label }: { parts: readonly Part[]; label: string }) {
  return (
    <span className="parts" role="img" aria-label={label}>
      {parts
        .filter(({ count }) => count > 0)
        .map(({ state, count }) => (
          <span key={state} data-tone={toneOf(state)} data-state={state} title={`${words(state)}: ${count.toLocaleString()}`} style={{ flexGrow: count }} />
        ))}
    </span>
  );
}
