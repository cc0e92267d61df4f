// The token that requests of this tab carry. It is kept in memory only: nothing of it is stored. A tab that has none may
// get it from another open tab of this page, so that a new tab (the playground is one) need not ask again.
type Message = { readonly ask: true } | { readonly token: string };

// Why the server refuses: the token, or the roles that its owner had until now; the token is as good as before then.
export type Refusal = 'token' | 'roles';

const ANSWER_WITHIN_MS = 200;

class Credentials {
  #token: string | undefined;
  readonly #tabs = new BroadcastChannel('writewatch-credentials');
  readonly #refused = new Set<(why: Refusal) => void>();

  constructor() {
    this.#tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if ('ask' in data && this.#token !== undefined) this.#tabs.postMessage({ token: this.#token } satisfies Message);
    });
  }

  get token(): string | undefined {
    return this.#token;
  }

  set token(token: string | undefined) {
    this.#token = token;
  }

  get authorization(): Record<string, string> {
    return this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
  }

  async ofAnotherTab(): Promise<string | undefined> {
    return new Promise((resolve) => {
      const hear = ({ data }: MessageEvent<Message>): void => {
        if ('token' in data) done(data.token);
      };
      const done = (token: string | undefined): void => {
        this.#tabs.removeEventListener('message', hear);
        resolve(token);
      };
      this.#tabs.addEventListener('message', hear);
      setTimeout(done, ANSWER_WITHIN_MS, undefined);
      this.#tabs.postMessage({ ask: true } satisfies Message);
    });
  }

  // The server did not accept what a request carried.
  refuse(why: Refusal): void {
    for (const listener of this.#refused) listener(why);
  }

  onRefused(listener: (why: Refusal) => void): void {
    this.#refused.add(listener);
  }
}

export const credentials = new Credentials();
