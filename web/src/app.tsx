// The frame: navigation, how live the page is, the view that the address names, and the panel beside it.
import { lazy, Suspense, useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { DetailPanel } from './detail/panel';
import { FeedView } from './feed/view';
import { feed } from './live/feed';
import { OperationsView } from './operations/view';
import { Trouble } from './ui/parts';
import { WatchesView } from './watches/view';

const Playground = lazy(() => import('./playground/playground'));

const VIEWS = [
  { path: '/', name: 'Operations', View: OperationsView },
  { path: '/watches', name: 'Watches', View: WatchesView },
  { path: '/feed', name: 'Feed', View: FeedView },
] as const;

const PLAYGROUND = '/playground';

export function App() {
  const [path] = useLocation();
  useEffect(() => {
    const name = path === PLAYGROUND ? 'Playground' : VIEWS.find((view) => view.path === path)?.name;
    document.title = name ? `${name} – writewatch` : 'writewatch';
  }, [path]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Top path={path} />
      <Switch>
        {VIEWS.map(({ path, View }) => (
          <Route key={path} path={path}>
            <Beside>
              <View />
            </Beside>
          </Route>
        ))}
        <Route path={PLAYGROUND}>
          <Suspense fallback={<p className="hint">Loading the playground…</p>}>
            <Playground />
          </Suspense>
        </Route>
        <Route>
          <main id="main" className="empty">
            <h1>There is no such page</h1>
            <p>
              Go to the <Link href="/">operations</Link>.
            </p>
          </main>
        </Route>
      </Switch>
    </>
  );
}

function Top({ path }: { path: string }) {
  const { now, trouble } = useSyncExternalStore(feed.onStatus, () => feed.status);
  return (
    <>
      <header className="top">
        <Link href="/" className="brand">
          <img src="/icon.svg" alt="" width="22" height="22" />
          writewatch
        </Link>
        <nav aria-label="Views">
          {VIEWS.map((view) => (
            <Link key={view.path} href={view.path} aria-current={path === view.path ? 'page' : undefined}>
              {view.name}
            </Link>
          ))}
          {/* A whole page load, so that a server may allow the editor's inline styles on this path only. */}
          <a href={PLAYGROUND} aria-current={path === PLAYGROUND ? 'page' : undefined}>
            Playground
          </a>
        </nav>
        <span className="status" data-now={now} role="status">
          {now === 'live' ? 'live' : `${now}…`}
        </span>
      </header>
      {trouble !== undefined && <Trouble error={trouble} />}
    </>
  );
}

function Beside({ children }: { children: ReactNode }) {
  return (
    <div className="beside">
      {children}
      <DetailPanel />
    </div>
  );
}
