// The only way out of the page: GraphQL by POST for reads, and one graphql-transport-ws socket for what is live.
// Both go to the origin that served the page.
import {
  Client,
  fetchExchange,
  type AnyVariables,
  type OperationResult,
} from '@urql/core';
import { createClient, MessageType, type Client as SocketClient } from 'graphql-ws';
import { credentials, type Refusal } from './credentials';
import { codeOf } from './explain';
import type { TypedDocumentString } from './generated';

const httpUrl = new URL('/graphql', location.origin).href;
const socketUrl = httpUrl.replace(/^http/, 'ws');

// No cache: what is shown is kept current by the feed, and a cached answer would be older than that.
export const client = new Client({
  url: httpUrl,
  exchanges: [fetchExchange],
  requestPolicy: 'network-only',
  preferGetMethod: false,
  fetchOptions: () => ({
    headers: { accept: 'application/graphql-response+json, application/json;q=0.9', ...credentials.authorization },
  }),
});

export async function read<Data, Variables extends AnyVariables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  return answer(await client.query<Data, Variables>(document.toString(), variables).toPromise());
}

export async function write<Data, Variables extends AnyVariables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  return answer(await client.mutation<Data, Variables>(document.toString(), variables).toPromise());
}

function answer<Data>({ data, error }: Pick<OperationResult<Data>, 'data' | 'error'>): Data {
  if (error) {
    if (codeOf(error) === 'UNAUTHENTICATED') credentials.refuse('token');
    throw error;
  }
  if (data === undefined) throw new Error('The server sent an answer without data.');
  return data;
}

// How the server closes a socket whose token it does not accept. Each subscription was told before if it is the roles.
const FORBIDDEN = 4403;

// How long the server may stay silent after a ping before the socket counts as dead (a laptop that slept, a lost
// network): such a socket never closes by itself.
const PONG_DEADLINE_MS = 5_000;

// `onOpen` and `onClosed` say whether the socket stands. It never reconnects by itself: whoever follows a stream knows
// the cursor to go on from, the socket does not.
export function openSocket(onOpen?: () => void, onClosed?: () => void): SocketClient {
  let deadline: ReturnType<typeof setTimeout> | undefined;
  let open: WebSocket | undefined;
  let refused: Refusal = 'token';
  return createClient({
    url: socketUrl,
    retryAttempts: 0,
    keepAlive: 15_000,
    connectionParams: () => credentials.authorization,
    on: {
      connected: (socket) => {
        open = socket as WebSocket;
        refused = 'token';
        onOpen?.();
      },
      ping: (received) => {
        if (received) return;
        deadline = setTimeout(() => open?.close(4408, 'No pong'), PONG_DEADLINE_MS);
      },
      pong: (received) => {
        if (received) clearTimeout(deadline);
      },
      message: (message) => {
        if (message.type === MessageType.Error && codeOf(message.payload) === 'FORBIDDEN') refused = 'roles';
      },
      closed: (event) => {
        clearTimeout(deadline);
        open = undefined;
        if (event instanceof CloseEvent && event.code === FORBIDDEN) credentials.refuse(refused);
        onClosed?.();
      },
    },
  });
}

export async function* follow<Data, Variables extends Record<string, unknown>>(
  socket: SocketClient,
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
): AsyncGenerator<Data> {
  const request = { query: document.toString(), variables };
  for await (const { data, errors } of socket.iterate<Data>(request)) {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- rethrown as the socket itself reports errors
    if (errors) throw errors;
    if (data) yield data;
  }
}
