// When a list must not move: while the pointer or the keyboard is in it, while it is scrolled down, and while a person
// has paused it.
import { useCallback, useEffect, useRef, type RefObject } from 'react';

export function useHold(container: RefObject<HTMLElement | null>, paused: boolean): () => boolean {
  const isPaused = useRef(paused);
  useEffect(() => {
    isPaused.current = paused;
  }, [paused]);
  return useCallback(() => isPaused.current || isTouched(container.current), [container]);
}

// A finger leaves no pointer behind, so on a touch screen only the keyboard and scrolling hold a list.
function isTouched(element: HTMLElement | null): boolean {
  if (!element) return false;
  const pointed = matchMedia('(hover: hover)').matches && element.matches(':hover');
  return pointed || element.scrollTop > 0 || element.querySelector(':focus-visible') !== null;
}

// Lets in what waits as soon as nothing holds the list any more.
export function useSettling(container: RefObject<HTMLElement | null>, isHeld: () => boolean, settle: () => void): void {
  useEffect(() => {
    const element = container.current;
    if (!element) return undefined;
    // The focus has not arrived where it goes when focusout is sent.
    const later = (): void => {
      setTimeout(() => {
        if (!isHeld()) settle();
      });
    };
    const events = ['pointerleave', 'focusout', 'scrollend'] as const;
    for (const name of events) element.addEventListener(name, later);
    return () => {
      for (const name of events) element.removeEventListener(name, later);
    };
  }, [container, isHeld, settle]);
}
