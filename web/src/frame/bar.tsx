// The bar over every view: finding, how live the page is, who is signed in and what they chose.
import { Popover } from '@base-ui/react/popover';
import { useSyncExternalStore } from 'react';
import { session } from '../graphql/session';
import { useViewer } from '../graphql/useViewer';
import { feed } from '../live/feed';
import { Icon } from '../ui/icons';
import { setPreferences, usePreferences, type Preferences } from '../ui/preferences';
import { shorten, words } from '../ui/words';

export function Bar({ onSearch, onKeys }: { onSearch: () => void; onKeys: () => void }) {
  const { now } = useSyncExternalStore(feed.onStatus, () => feed.status);
  return (
    <header className="bar">
      <button type="button" className="search-button" onClick={onSearch}>
        <Icon name="search" />
        <span className="label">Find by any id…</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <span className="status" data-now={now} role="status" title={STATUS[now]}>
        {now === 'live' ? 'live' : `${now}…`}
      </span>
      <Settings onKeys={onKeys} />
    </header>
  );
}

const STATUS = {
  connecting: 'The live feed is being opened',
  live: 'Changes show as they happen',
  reconnecting: 'The live feed was lost. What is shown stays, and what is missed will be caught up with',
} as const;

function Settings({ onKeys }: { onKeys: () => void }) {
  const viewer = useViewer();
  return (
    <Popover.Root>
      <Popover.Trigger className="icon-button" aria-label="Settings">
        <Icon name="settings" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={6} className="layer">
          <Popover.Popup className="popup settings">
            <Popover.Title className="unseen">Settings</Popover.Title>
            <p>
              {viewer.did === null ? 'Open access: everybody may do everything.' : <code title={viewer.did}>{shorten(viewer.did)}</code>}
            </p>
            {viewer.did !== null && (
              <p className="hint">Roles: {viewer.roles.length > 0 ? viewer.roles.map(words).join(', ') : 'none beside your own'}</p>
            )}
            <Choices />
            <p className="actions">
              <Popover.Close className="quiet" onClick={onKeys}>
                Keyboard shortcuts
              </Popover.Close>
              {viewer.did !== null && (
                <button
                  type="button"
                  className="quiet"
                  onClick={() => {
                    session.signOut();
                  }}
                >
                  Sign out
                </button>
              )}
            </p>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

const ZONES = Intl.supportedValuesOf('timeZone');

function Choices() {
  const { theme, zone } = usePreferences();
  return (
    <>
      <label className="line">
        <span>Colours</span>
        <select
          value={theme}
          onChange={(event) => {
            setPreferences({ theme: event.target.value as Preferences['theme'] });
          }}
        >
          <option value="system">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      <label className="line">
        <span>Time zone</span>
        <select
          value={zone}
          onChange={(event) => {
            setPreferences({ zone: event.target.value });
          }}
        >
          <option value="">of this browser</option>
          <option value="UTC">UTC</option>
          {ZONES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
