// The live feed: one subscription to every change, shared by all views. It owns the cursor.
//
// Where it begins is told with who asks (graphql/session), so that lists are read at once.
//
//   head ──▶ following ──▶ waiting ──▶ following …      a lost socket goes on after the last cursor: nothing is missed
//    ▲                        │
//    └──── cursor expired ────┘                         the lists are read anew, then the feed goes on from the head
//
// It keeps no changes: listeners get them in batches and keep what they show.
import { FeedDocument, FeedHeadDocument, type FeedSubscription } from '../graphql/generated';
import { follow, openSocket, read } from '../graphql/client';
import { codeOf } from '../graphql/explain';
import { session } from '../graphql/session';

export type FeedChange = FeedSubscription['changes'];
export interface FeedStatus {
  now: 'connecting' | 'live' | 'reconnecting';
  // Why it is not live, once it has failed so often that a person should know.
  trouble: unknown;
}

interface Listener {
  // Lists read before this moment may have missed changes: read them (again).
  restarted: () => void;
  changed: (batch: readonly FeedChange[]) => void;
  // The server is there (again): what could not be read may be tried once more.
  reached: () => void;
}

// A burst of changes is shown ten times a second; a person sees no difference and the page keeps breathing.
const BATCH_MS = 100;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
const SURELY_BEGUN_MS = 1_000;
const SAY_AFTER_FAILURES = 3;

export class Feed {
  // undefined: the head is not known yet. null: the feed was empty, so there is nothing to go on from.
  #cursor: string | null | undefined = undefined;
  #status: FeedStatus = { now: 'connecting', trouble: undefined };
  #failures = 0;
  #wake: (() => void) | undefined;
  #batch: FeedChange[] = [];
  readonly #listeners = new Set<Listener>();
  readonly #statusListeners = new Set<() => void>();
  readonly #socket = openSocket(
    () => {
      this.#setStatus('live', undefined);
      for (const listener of this.#listeners) listener.reached();
      // A socket does not say when a subscription has begun, so the lists are read once more when it surely has.
      if (this.#cursor === null) setTimeout(() => { this.#restart(); }, SURELY_BEGUN_MS);
    },
    () => {
      this.#setStatus('reconnecting', this.#status.trouble);
    },
  );

  constructor() {
    addEventListener('online', () => this.#wake?.());
    session.onChange(() => {
      const { state } = session;
      // What one viewer may follow is not for the next: the socket ends with the session, and the cursor with it.
      if (state.now === 'signed-out') {
        this.#cursor = undefined;
        this.#socket.terminate();
      } else if (state.now === 'ready') {
        this.#cursor ??= state.head;
        this.#wake?.();
      }
    });
    void this.#run();
  }

  get status(): FeedStatus {
    return this.#status;
  }

  // Lists may be read as soon as the head is known.
  get started(): boolean {
    return this.#cursor !== undefined;
  }

  readonly onStatus = (listener: () => void): (() => void) => {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  };

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #run(): Promise<never> {
    for (;;) {
      await session.ready();
      const begun = performance.now();
      try {
        if (this.#cursor === undefined) await this.#findHead();
        for await (const { changes } of follow(this.#socket, FeedDocument, { after: this.#cursor ?? null })) {
          this.#take(changes);
        }
      } catch (error) {
        // Expired, or of another log: the server's database was replaced.
        if (['CURSOR_EXPIRED', 'BAD_INPUT'].includes(codeOf(error) ?? '')) this.#cursor = undefined;
        // A socket that opens only to be refused is a failure too, so what counts is how long it served.
        this.#failures = performance.now() - begun > LAST_RETRY_MS ? 1 : this.#failures + 1;
        if (this.#failures >= SAY_AFTER_FAILURES) this.#setStatus('reconnecting', error);
      }
      await this.#pause();
    }
  }

  async #findHead(): Promise<void> {
    const { changes } = await read(FeedHeadDocument, {});
    this.#cursor = changes.pageInfo.endCursor;
    this.#restart();
  }

  #take(change: FeedChange): void {
    // What came between reading the empty lists and this first change is in no batch; the lists have it.
    if (this.#cursor === null) this.#restart();
    this.#cursor = change.cursor;
    if (this.#batch.length === 0) setTimeout(this.#flush, BATCH_MS);
    this.#batch.push(change);
  }

  readonly #flush = (): void => {
    const batch = this.#batch;
    this.#batch = [];
    for (const listener of this.#listeners) listener.changed(batch);
  };

  #restart(): void {
    for (const listener of this.#listeners) listener.restarted();
  }

  #setStatus(now: FeedStatus['now'], trouble: unknown): void {
    this.#status = { now, trouble };
    for (const listener of this.#statusListeners) listener();
  }

  // Waits longer after each failure, with some chance in it so that many pages do not return at once.
  async #pause(): Promise<void> {
    const longest = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, longest * (0.5 + Math.random() / 2));
    });
  }
}

export const feed = new Feed();
