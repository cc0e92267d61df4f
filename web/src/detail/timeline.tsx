// What happened to one entity, newest first.
import { Facts, since } from '../feed/facts';
import type { TimelineFragment } from '../graphql/generated';
import { Move } from '../ui/parts';
import { Time } from '../ui/time';
import { words } from '../ui/words';

export function Timeline({ changes }: { changes: TimelineFragment }) {
  if (changes.nodes.length === 0) {
    return <p className="hint">No change is kept: it was written before this server, or longer ago than changes are kept.</p>;
  }
  const newestFirst = changes.nodes.toReversed();
  return (
    <>
      <ol className="timeline">
        {newestFirst.map((change, index) => (
          <li key={change.cursor}>
            <div>
              <strong>{words(change.transition)}</strong>{' '}
              {change.fromState !== change.toState && <Move change={change} />}
            </div>
            <Time at={change.at} />
            <Facts facts={since(newestFirst[index + 1]?.facts, change.facts)} />
          </li>
        ))}
      </ol>
      {changes.pageInfo.hasPreviousPage && (
        <p className="hint">These are the latest 100. The playground shows older ones: ask for changes before a cursor.</p>
      )}
    </>
  );
}
