// What needs a person's eye, counted once for the navigation and the overview.
import { read } from '../graphql/client';
import { AttentionDocument, type AttentionReason } from '../graphql/generated';
import { refresh } from '../live/useRefreshed';

// Leases end and work comes due without a change, so it is counted again now and then.
const EVERY_MS = 15_000;
// What the view itself reads goes first.
const AFTER_MS = 300;

class AttentionStore {
  #value: ReadonlyMap<AttentionReason, number> | undefined;
  #stop: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();

  get value(): ReadonlyMap<AttentionReason, number> | undefined {
    return this.#value;
  }

  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stop ??= this.#startSoon();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
      // The next to look may be another viewer.
      this.#value = undefined;
    };
  };

  #startSoon(): () => void {
    let stop: (() => void) | undefined;
    const timer = setTimeout(() => {
      stop = refresh(count, { everyMs: EVERY_MS }, (result) => {
        // A count that failed is shown by the views that fail with it; the last one stays.
        if (!('value' in result)) return;
        this.#value = result.value;
        for (const tell of this.#listeners) tell();
      });
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      stop?.();
    };
  }
}

async function count(): Promise<ReadonlyMap<AttentionReason, number>> {
  const { statistics } = await read(AttentionDocument, {});
  return new Map(statistics.attention.map(({ reason, count }) => [reason, count]));
}

export const attention = new AttentionStore();
