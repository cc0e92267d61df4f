// The frame: navigation, the bar, the view that the address names, and the panel beside it.
import { lazy, Suspense, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { DetailPanel } from './detail/panel';
import { DocumentsView } from './documents/view';
import { FeedView } from './feed/view';
import { Bar } from './frame/bar';
import { KeysDialog } from './frame/keys';
import { Navigation } from './frame/navigation';
import { SearchDialog } from './frame/search';
import { Gate } from './frame/sign-in';
import { useShortcuts } from './frame/useShortcuts';
import { PLAYGROUND, VIEWS } from './frame/views';
import { session } from './graphql/session';
import { ViewerContext } from './graphql/useViewer';
import { feed } from './live/feed';
import { OperationsView } from './operations/view';
import { OverviewView } from './overview/view';
import { SweepsView } from './sweeps/view';
import { SyncView } from './sync/view';
import { Trouble } from './ui/parts';
import { WatchesView } from './watches/view';

const Playground = lazy(() => import('./playground/playground'));

export function App() {
  const state = useSyncExternalStore(session.onChange, () => session.state);
  if (state.now !== 'ready') return <Gate state={state} />;
  return (
    <ViewerContext value={state.viewer}>
      <Frame />
    </ViewerContext>
  );
}

function Frame() {
  const [path] = useLocation();
  const [dialog, setDialog] = useState<'search' | 'keys'>();
  useShortcuts({ search: () => { setDialog('search'); }, keys: () => { setDialog('keys'); } });
  useEffect(() => {
    const name = path === PLAYGROUND ? 'Playground' : VIEWS.find((view) => view.path === path)?.name;
    document.title = name ? `${name} – writewatch` : 'writewatch';
  }, [path]);
  const close = (): void => {
    setDialog(undefined);
  };
  return (
    <div className="app">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Navigation />
      <div className="page">
        <Bar onSearch={() => { setDialog('search'); }} onKeys={() => { setDialog('keys'); }} />
        <FeedTrouble />
        <Views />
      </div>
      {dialog === 'search' && <SearchDialog onClose={close} />}
      {dialog === 'keys' && <KeysDialog onClose={close} />}
    </div>
  );
}

function Views() {
  return (
    <Switch>
      <Route path="/"><Beside><OverviewView /></Beside></Route>
      <Route path="/operations"><Beside><OperationsView /></Beside></Route>
      <Route path="/documents"><Beside><DocumentsView /></Beside></Route>
      <Route path="/watches"><Beside><WatchesView /></Beside></Route>
      <Route path="/sweeps"><Beside><SweepsView /></Beside></Route>
      <Route path="/sync"><Beside><SyncView /></Beside></Route>
      <Route path="/feed"><Beside><FeedView /></Beside></Route>
      <Route path={PLAYGROUND}>
        <Suspense fallback={<p className="hint padded">Loading the playground…</p>}>
          <Playground />
        </Suspense>
      </Route>
      <Route>
        <main id="main" className="empty">
          <h1>There is no such page</h1>
          <p>
            Go to the <Link href="/">overview</Link>.
          </p>
        </main>
      </Route>
    </Switch>
  );
}

function FeedTrouble() {
  const { trouble } = useSyncExternalStore(feed.onStatus, () => feed.status);
  return trouble === undefined ? null : <Trouble error={trouble} />;
}

function Beside({ children }: { children: ReactNode }) {
  return (
    <div className="beside">
      {children}
      <DetailPanel />
    </div>
  );
}
