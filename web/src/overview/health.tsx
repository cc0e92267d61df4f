// How the server, its database, the feed and the upkeep do.
import { useMemo, type ReactNode } from 'react';
import { read } from '../graphql/client';
import { HealthDocument, type HealthQuery } from '../graphql/generated';
import { useRefreshed } from '../live/useRefreshed';
import { Facts } from '../feed/facts';
import { Nothing, Trouble } from '../ui/parts';
import { duration, Time } from '../ui/time';
import { words } from '../ui/words';

const EVERY_MS = 5_000;
// What makes a person look twice. Subscribers are told of a change within a few ms of its commit.
const SLOW_FEED_MS = 2_000;
const LONG_QUEUE = 500;

type Status = HealthQuery['serverStatus'];

export function Health() {
  const load = useMemo(() => async () => (await read(HealthDocument, {})).serverStatus, []);
  const options = useMemo(() => ({ everyMs: EVERY_MS, restMs: EVERY_MS }), []);
  const { value: status, error, reload } = useRefreshed(load, options);
  return (
    <section className="sheet" aria-labelledby="health">
      <h2 id="health">Health</h2>
      {error !== undefined && <Trouble error={error} retry={reload} />}
      {status && <Signs status={status} />}
      {status && <Upkeep upkeep={status.upkeep} />}
    </section>
  );
}

function Signs({ status }: { status: Status }) {
  const { version, engine, startedAt, servers, feedLagMs, queueDepth } = status;
  return (
    <ul className="signs">
      <Sign good name="Server">
        {version}, up since <Time at={startedAt} />; {servers} on this database
      </Sign>
      <Sign good name="Database">
        {engine} answers
      </Sign>
      <Sign good={feedLagMs < SLOW_FEED_MS} name="Feed">
        {feedLagMs === 0 ? 'keeps up' : `${duration(feedLagMs)} behind`}
      </Sign>
      <Sign good={queueDepth < LONG_QUEUE} name="Writes">
        {queueDepth === 0 ? 'none wait' : `${queueDepth.toLocaleString()} wait to be written`}
      </Sign>
    </ul>
  );
}

function Sign({ good, name, children }: { good: boolean; name: string; children: ReactNode }) {
  return (
    <li data-tone={good ? 'good' : 'look'}>
      <b>{name}</b> <span>{children}</span>
      <span className="unseen">{good ? ' (well)' : ' (look)'}</span>
    </li>
  );
}

function Upkeep({ upkeep }: { upkeep: Status['upkeep'] }) {
  return (
    <table className="plain">
      <thead>
        <tr>
          <th scope="col">Upkeep</th>
          <th scope="col">Last run</th>
          <th scope="col">It did</th>
        </tr>
      </thead>
      <tbody>
        {upkeep.map(({ task, lastRunAt, lastResult }) => (
          <tr key={task}>
            <th scope="row">{words(task)}</th>
            <td>{lastRunAt === null ? 'not yet' : <Time at={lastRunAt} />}</td>
            <td>{lastResult === null ? <Nothing /> : <Facts facts={lastResult} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
