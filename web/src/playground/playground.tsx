// GraphiQL on this server: queries and mutations by POST, subscriptions over the socket. Loaded on demand, whole: its
// editor and workers come from this origin.
import 'graphiql/setup-workers/vite';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import 'graphiql/style.css';
import { useEffect, useState } from 'react';
import { openSocket } from '../graphql/client';
import { credentials } from '../graphql/credentials';
import { usePreferences } from '../ui/preferences';
import { EXAMPLES } from './examples';

// Requests carry what the sign-in gave, as it is at each of them.
const withCredentials: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(credentials.authorization)) if (!headers.has(name)) headers.set(name, value);
  return fetch(input, { ...init, headers });
};

function connect() {
  const socket = openSocket();
  return { socket, fetcher: createGraphiQLFetcher({ url: '/graphql', fetch: withCredentials, wsClient: socket }) };
}

export default function Playground() {
  const { theme } = usePreferences();
  const [{ socket, fetcher }] = useState(connect);
  // GraphiQL forgets what it follows but does not end it, even when whoever had signed in for it has signed out.
  useEffect(() => () => void socket.dispose(), [socket]);
  return (
    <main id="main" className="playground">
      <GraphiQL fetcher={fetcher} defaultTabs={EXAMPLES} {...(theme !== 'system' && { forcedTheme: theme })} />
    </main>
  );
}
