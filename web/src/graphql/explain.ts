// Turns what can go wrong into a sentence that says what happened and one that says what to do.
import { CombinedError } from '@urql/core';

export interface Explanation {
  what: string;
  todo: string;
}

const TODO: Partial<Record<string, string>> = {
  BAD_INPUT: 'Check what the address bar holds, or clear the filters.',
  UNAUTHENTICATED: 'Sign in again.',
  FORBIDDEN: 'Ask an operator of this server for access.',
  CONTENTION: 'Try again in a moment: many clients are changing the same rows.',
  BUSY: 'Try again in a moment: the server has more work queued than it accepts.',
  INTERNAL: 'Try again. If it stays, look into the server’s log at this time.',
};

// The close code of a server that shuts down, to come back.
const RESTARTING = 1012;

interface Coded {
  message?: unknown;
  extensions?: { code?: unknown; oldest?: unknown } | undefined;
}

// GraphQL errors arrive in three wrappings: urql's, a bare list from the socket, and a single one.
function graphqlError(error: unknown): Coded | undefined {
  if (error instanceof CombinedError) return error.graphQLErrors[0];
  if (Array.isArray(error)) return error[0] as Coded | undefined;
  return undefined;
}

export function codeOf(error: unknown): string | undefined {
  const code = graphqlError(error)?.extensions?.code;
  return typeof code === 'string' ? code : undefined;
}

function goOn({ extensions }: Coded): string {
  const { oldest } = extensions ?? {};
  return typeof oldest === 'string' ? `The oldest that goes on is ${oldest}` : 'Reload the page: that place is no longer kept.';
}

export function explain(error: unknown): Explanation {
  const answered = graphqlError(error);
  if (answered) {
    const code = codeOf(error);
    const known = code === 'CURSOR_EXPIRED' ? goOn(answered) : code === undefined ? undefined : TODO[code];
    return {
      what: `The server refused the request: ${String(answered.message)}`,
      todo: known ?? 'Reload the page. It may be older than the server.',
    };
  }
  // A socket's troubles are events: a close that says why, or one of the codes that mean nobody is there.
  if (error instanceof CloseEvent && error.reason !== '' && error.code !== RESTARTING) {
    return { what: `The server closed the connection: ${error.reason} (${String(error.code)})`, todo: 'Reload the page.' };
  }
  if (error instanceof Event || (error instanceof CombinedError && error.networkError)) {
    return {
      what: `The server at ${location.host} does not answer.`,
      todo: 'Check that it runs and that this machine reaches it, then try again.',
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { what: `Something unexpected happened: ${message}`, todo: 'Reload the page.' };
}
