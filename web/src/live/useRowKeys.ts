// Arrow keys, Home and End move the focus from row to row.
import type { Virtualizer } from '@tanstack/react-virtual';
import type { KeyboardEvent } from 'react';

export function useRowKeys(
  virtual: Virtualizer<HTMLDivElement, Element>,
  count: number,
): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const table = event.currentTarget;
    const place = (event.target as HTMLElement).closest<HTMLElement>('.opener')?.closest<HTMLElement>('[data-index]');
    if (!place) return;
    const index = Number(place.dataset.index);
    const goal = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: count - 1 }[event.key];
    if (goal === undefined || goal < 0 || goal >= count) return;
    event.preventDefault();
    virtual.scrollToIndex(goal);
    requestAnimationFrame(() => {
      table.querySelector<HTMLElement>(`[data-index="${String(goal)}"] .opener`)?.focus();
    });
  };
}
