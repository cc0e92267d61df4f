// The way between the views: beside the page where there is room, under it on a phone.
import { useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { attention } from '../overview/attention-store';
import { Icon } from '../ui/icons';
import { compact } from '../ui/words';
import { PLAYGROUND, VIEWS, type View } from './views';

export function Navigation() {
  const [path] = useLocation();
  const counts = useSyncExternalStore(attention.onChange, () => attention.value);
  return (
    <nav className="views" aria-label="Views">
      <Link href="/" className="brand">
        <img src="/icon.svg" alt="" width="22" height="22" />
        <span>writewatch</span>
      </Link>
      <ul>
        {VIEWS.map((view) => (
          <li key={view.path}>
            <Link href={view.path} aria-current={path === view.path ? 'page' : undefined}>
              <Icon name={view.icon} />
              <span className="name">{view.name}</span>
              <Count view={view} counts={counts} />
            </Link>
          </li>
        ))}
        <li>
          {/* A tab of its own: a whole page load, because the editor's inline styles are allowed on this path only, and the
              token of this tab is kept. */}
          <a href={PLAYGROUND} target="_blank" aria-current={path === PLAYGROUND ? 'page' : undefined}>
            <Icon name="playground" />
            <span className="name">Playground</span>
            <span className="unseen"> (opens a tab)</span>
          </a>
        </li>
      </ul>
    </nav>
  );
}

function Count({ view, counts }: { view: View; counts: ReadonlyMap<string, number> | undefined }) {
  const count = (view.counts ?? []).reduce((sum, reason) => sum + (counts?.get(reason) ?? 0), 0);
  if (count === 0) return null;
  return (
    <span className="count" title={`${count.toLocaleString()} need a person’s eye`}>
      {compact(count)}
      <span className="unseen"> need a person’s eye</span>
    </span>
  );
}
