// Who uses this tab, as far as the server knows them.
//
//   asking ──▶ ready            open access, or a token that the server knows
//     │  ▲       │ refused      with other roles: asked again, with the same token
//     │  └─ signed out          a token is asked for
//     └──▶ unreachable          asked again, by itself, until the server answers
import { read } from './client';
import { credentials } from './credentials';
import { codeOf } from './explain';
import { StartDocument, type StartQuery } from './generated';

export type Viewer = StartQuery['viewer'];
export type SessionState =
  | { readonly now: 'asking' }
  | { readonly now: 'signed-out'; readonly why: string | undefined }
  | { readonly now: 'unreachable'; readonly error: unknown }
  // `head`: where the feed stood when they were let in; null when it was empty.
  | { readonly now: 'ready'; readonly viewer: Viewer; readonly head: string | null };

const ASK_AGAIN_MS = 2_000;

class Session {
  #state: SessionState = { now: 'asking' };
  readonly #listeners = new Set<() => void>();

  constructor() {
    credentials.onRefused((why) => {
      if (this.#state.now !== 'ready') return;
      if (why === 'roles') void this.#ask();
      else this.#end('Your token is not accepted any more: it has expired, or your DID was revoked. Sign in with another one.');
    });
    void this.#ask();
  }

  get state(): SessionState {
    return this.#state;
  }

  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  // Resolves once somebody may read.
  async ready(): Promise<void> {
    while (this.#state.now !== 'ready') {
      await new Promise<void>((resolve) => {
        const stop = this.onChange(() => {
          stop();
          resolve();
        });
      });
    }
  }

  signIn(token: string): void {
    credentials.token = token;
    void this.#ask();
  }

  signOut(): void {
    this.#end(undefined);
  }

  readonly askAgain = (): void => {
    void this.#ask();
  };

  async #ask(): Promise<void> {
    this.#set({ now: 'asking' });
    try {
      const { viewer, changes } = await read(StartDocument, {});
      this.#set({ now: 'ready', viewer, head: changes.pageInfo.endCursor });
    } catch (error) {
      if (codeOf(error) !== 'UNAUTHENTICATED') {
        this.#set({ now: 'unreachable', error });
        setTimeout(() => {
          if (this.#state.now === 'unreachable') void this.#ask();
        }, ASK_AGAIN_MS);
      } else if (credentials.token !== undefined) {
        this.#end('The server does not accept this token. Check that it is whole, made for this server and not expired. If it is, your DID may have been revoked.');
      } else {
        const token = await credentials.ofAnotherTab();
        if (token === undefined) this.#end(undefined);
        else this.signIn(token);
      }
    }
  }

  #end(why: string | undefined): void {
    credentials.token = undefined;
    this.#set({ now: 'signed-out', why });
  }

  #set(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export const session = new Session();
