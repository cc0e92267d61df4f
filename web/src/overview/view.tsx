// The overview: what needs a person's eye, how many there are of what, what happened lately, and how the server does.
import { useMemo, useSyncExternalStore } from 'react';
import { read } from '../graphql/client';
import { OverviewDocument, type OverviewQuery } from '../graphql/generated';
import { useRefreshed } from '../live/useRefreshed';
import { FirstOperation } from '../operations/empty';
import { Trouble } from '../ui/parts';
import { AttentionCards } from './attention';
import { attention } from './attention-store';
import { Connectors } from './connectors';
import { Counts } from './counts';
import { Health } from './health';
import { Outcomes } from './outcomes';

const EVERY_MS = 15_000;

export type Statistics = OverviewQuery['statistics'];

export function OverviewView() {
  const load = useMemo(() => async () => (await read(OverviewDocument, {})).statistics, []);
  const options = useMemo(() => ({ everyMs: EVERY_MS }), []);
  const { value: statistics, error, reload } = useRefreshed(load, options);
  const reasons = useSyncExternalStore(attention.onChange, () => attention.value);
  const fresh = statistics?.operationTotals.length === 0 && statistics.watchTotals.length === 0;
  return (
    <main id="main">
      <div className="heading">
        <h1>Overview</h1>
      </div>
      {error !== undefined && <Trouble error={error} retry={reload} />}
      {fresh && <FirstOperation />}
      {!fresh && (
        <>
          <AttentionCards reasons={reasons} oldestDueAt={statistics?.oldestDueAt ?? null} />
          <Counts statistics={statistics} />
          <Outcomes />
        </>
      )}
      <div className="halves">
        {!fresh && <Connectors statistics={statistics} />}
        <Health />
      </div>
    </main>
  );
}
