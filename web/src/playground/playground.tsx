// GraphiQL on this server: queries and mutations by POST, subscriptions over the socket. Loaded on demand, whole: its
// editor and workers come from this origin.
import 'graphiql/setup-workers/vite';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import 'graphiql/style.css';
import { openSocket } from '../graphql/client';
import { EXAMPLES } from './examples';

const fetcher = createGraphiQLFetcher({ url: '/graphql', wsClient: openSocket() });

export default function Playground() {
  return (
    <main id="main" className="playground">
      <GraphiQL fetcher={fetcher} defaultTabs={EXAMPLES} />
    </main>
  );
}
