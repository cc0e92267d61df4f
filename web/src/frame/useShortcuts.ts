// Keys that work anywhere but where text is typed: `/` finds, `?` lists the keys, `g` and a letter goes to a view.
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { VIEWS } from './views';

const SECOND_KEY_WITHIN_MS = 1_000;

export function useShortcuts(acts: { search: () => void; keys: () => void }): void {
  const [, navigate] = useLocation();
  const latest = useRef(acts);
  useEffect(() => {
    latest.current = acts;
  }, [acts]);
  useEffect(() => {
    let pressedG = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      const { key, target } = event;
      if ((event.ctrlKey || event.metaKey) && key === 'k') {
        event.preventDefault();
        latest.current.search();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || document.querySelector('[role="dialog"]')) return;
      if (key === '/') {
        event.preventDefault();
        latest.current.search();
      } else if (key === '?') latest.current.keys();
      else if (performance.now() - pressedG < SECOND_KEY_WITHIN_MS) {
        const view = VIEWS.find((view) => view.key === key);
        if (view) navigate(view.path);
      }
      pressedG = key === 'g' ? performance.now() : -Infinity;
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, [navigate]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.closest('input, textarea, select, .graphiql-container') !== null || target.isContentEditable);
}
