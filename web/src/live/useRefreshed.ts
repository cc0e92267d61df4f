// Numbers that only the server can tell, read anew after what happens: soon, but never so often that reading them is what
// keeps the server busy.
import { useEffect, useState } from 'react';
import { feed, type FeedChange } from './feed';

export interface Refreshed<Value> {
  value: Value | undefined;
  error: unknown;
  reload: () => void;
}

const REST_MS = 2_000;
// A reading rests for this many times as long as it took.
const REST_FACTOR = 5;

interface Options {
  // Which changes make a reading old; every one when left out.
  concerns?: (change: FeedChange) => boolean;
  // Read again after this long even when nothing happens: some numbers move with time alone.
  everyMs?: number;
  // How long a reading rests at least.
  restMs?: number;
}

// `load` and `options` must be the same objects as long as the question is the same.
export function useRefreshed<Value>(load: () => Promise<Value>, options?: Options): Refreshed<Value> {
  const [{ value, error, of }, set] = useState<{ value: Value | undefined; error: unknown; of: unknown }>({
    value: undefined,
    error: undefined,
    of: load,
  });
  const [turn, setTurn] = useState(0);
  useEffect(
    () =>
      refresh(load, options ?? {}, (result) => {
        set((before) => ({ value: before.of === load ? before.value : undefined, error: undefined, ...result, of: load }));
      }),
    [load, options, turn],
  );
  const reload = (): void => {
    setTurn((turn) => turn + 1);
  };
  return of === load ? { value, error, reload } : { value: undefined, error: undefined, reload };
}

// Reads now and whenever it has grown old, until it is stopped.
export function refresh<Value>(
  load: () => Promise<Value>,
  { concerns, everyMs, restMs = REST_MS }: Options,
  tell: (result: { value: Value } | { error: unknown }) => void,
): () => void {
  let stopped = false;
  let running = false;
  let wanted = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    running = true;
    wanted = false;
    const begun = performance.now();
    let result: { value: Value } | { error: unknown };
    try {
      result = { value: await load() };
    } catch (error) {
      result = { error };
    }
    if (isStopped()) return;
    tell(result);
    const rest = Math.max(restMs, REST_FACTOR * (performance.now() - begun));
    timer = setTimeout(rested, rest);
  };
  const isStopped = (): boolean => stopped;
  const rested = (): void => {
    running = false;
    if (wanted) void run();
    else if (everyMs !== undefined) timer = setTimeout(() => void run(), Math.max(0, everyMs - restMs));
  };
  const want = (): void => {
    wanted = true;
    if (!running) void run();
  };
  const stopListening = feed.listen({
    restarted: want,
    changed: (batch) => {
      if (!concerns || batch.some(concerns)) want();
    },
    reached: want,
  });
  void run();
  return () => {
    stopped = true;
    clearTimeout(timer);
    stopListening();
  };
}
