// When a list must not move: while the pointer or the keyboard is in it, while it is scrolled down, and while a person
// has paused it.
import { useCallback, useEffect, useRef, type RefObject } from 'react';

type Element = RefObject<HTMLElement | null>;

export function useHold(body: Element, scroller: Element, paused: boolean): () => boolean {
  const isPaused = useRef(paused);
  useEffect(() => {
    isPaused.current = paused;
  }, [paused]);
  return useCallback(
    () => isPaused.current || isTouched(body.current) || (scroller.current?.scrollTop ?? 0) > 0,
    [body, scroller],
  );
}

// A finger leaves no pointer behind, so on a touch screen only the keyboard and scrolling hold a list.
function isTouched(element: HTMLElement | null): boolean {
  if (!element) return false;
  const pointed = matchMedia('(hover: hover)').matches && element.matches(':hover');
  return pointed || element.querySelector(':focus-visible') !== null;
}

// Lets in what waits as soon as nothing holds the list any more.
export function useSettling(body: Element, scroller: Element, isHeld: () => boolean, settle: () => void): void {
  useEffect(() => {
    const [around, inside] = [body.current, scroller.current];
    if (!around || !inside) return undefined;
    // The focus has not arrived where it goes when focusout is sent.
    const later = (): void => {
      setTimeout(() => {
        if (!isHeld()) settle();
      });
    };
    around.addEventListener('pointerleave', later);
    around.addEventListener('focusout', later);
    inside.addEventListener('scrollend', later);
    return () => {
      around.removeEventListener('pointerleave', later);
      around.removeEventListener('focusout', later);
      inside.removeEventListener('scrollend', later);
    };
  }, [body, scroller, isHeld, settle]);
}
