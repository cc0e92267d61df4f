// Prints what a subscription brings, one line of JSON a message, until it ends or is interrupted.
//
//   node web/scripts/subscribe.mjs 'subscription { changes { transition toState } }'
//   WRITEWATCH_TOKEN=… node web/scripts/subscribe.mjs 'subscription …'     with --auth did; a token is no argument, which others may list
//   node web/scripts/subscribe.mjs --url ws://127.0.0.1:4000/graphql --variables '{"after":"…"}' 'subscription …'
import { parseArgs } from 'node:util';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

const USAGE = `usage: subscribe.mjs [--url ws://127.0.0.1:4000/graphql] [--variables '{…}'] 'subscription { … }'`;

function fail(message) {
  process.stderr.write(`subscribe: ${message}\n`);
  process.exit(1);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string', default: 'ws://127.0.0.1:4000/graphql' },
        variables: { type: 'string', default: '{}' },
      },
    });
    if (positionals.length !== 1) fail(USAGE);
    return { url: values.url, query: positionals[0], variables: JSON.parse(values.variables) };
  } catch (error) {
    return fail(`${error.message}\n${USAGE}`);
  }
}

// The socket tells its troubles in three shapes: a list of GraphQL errors, a close event, an error event.
function reasonOf(error, url) {
  if (Array.isArray(error)) {
    return error.map(({ message, extensions }) => [extensions?.code, message].filter(Boolean).join(': ')).join('\n');
  }
  if (typeof error?.code === 'number') return `${url} closed the connection: ${error.code} ${error.reason}`.trim();
  const { message } = error?.error ?? error;
  return `cannot reach ${url}: ${message || 'the connection was refused'}. Does the server run?`;
}

const { url, query, variables } = readArguments();
// A reader that goes away, as in `subscribe … | head -1`, ends this quietly.
process.stdout.on('error', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));

const token = process.env.WRITEWATCH_TOKEN;
const client = createClient({
  url,
  webSocketImpl: WebSocket,
  retryAttempts: 0,
  connectionParams: token ? { authorization: `Bearer ${token}` } : undefined,
  // On stderr, so that a person (or a script) knows when to start what the subscription should see.
  on: { connected: () => process.stderr.write(`subscribe: connected to ${url}\n`) },
});
try {
  for await (const result of client.iterate({ query, variables })) {
    if (result.errors) throw result.errors;
    process.stdout.write(`${JSON.stringify(result.data)}\n`);
  }
} catch (error) {
  fail(reasonOf(error, url));
}
