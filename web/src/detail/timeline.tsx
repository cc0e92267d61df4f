// What happened to one entity, newest first; older changes are read on demand.
import { useState } from 'react';
import { Facts, notable, noteOf, since } from '../feed/facts';
import { read } from '../graphql/client';
import { OperationBeforeDocument, type TimelineFragment } from '../graphql/generated';
import { Move, Trouble } from '../ui/parts';
import { Time } from '../ui/time';
import { shorten, words } from '../ui/words';

type Change = TimelineFragment['nodes'][number];

interface Props {
  // The node whose changes these are; without one, older changes cannot be read.
  id?: string;
  changes: TimelineFragment;
  // Say which entity each change is of, where they are of several.
  named?: boolean;
}

export function Timeline({ id, changes, named = false }: Props) {
  const { older, hasOlder, error, readOlder } = useOlder(id, changes);
  if (changes.nodes.length === 0) {
    return <p className="hint">No change is kept: it was written before this server, or longer ago than changes are kept.</p>;
  }
  const newestFirst = [...older, ...changes.nodes].toReversed();
  return (
    <>
      <ol className="timeline">
        {newestFirst.map((change, index) => (
          <Entry key={change.cursor} change={change} before={named ? undefined : newestFirst[index + 1]} named={named} />
        ))}
      </ol>
      {error !== undefined && <Trouble error={error} />}
      {hasOlder && (
        <button type="button" className="more" onClick={readOlder}>
          Show older changes
        </button>
      )}
    </>
  );
}

function Entry({ change, before, named }: { change: Change; before: Change | undefined; named: boolean }) {
  const note = noteOf(change.facts);
  return (
    <li data-entity={change.entity}>
      <div className="entry">
        <strong>{words(change.transition)}</strong>
        {named && <small>{words(change.entity)}</small>}
        {change.fromState !== change.toState && <Move change={change} />}
        <Time at={change.at} />
      </div>
      {note !== undefined && <blockquote>{note}</blockquote>}
      {change.actorDid !== null && (
        <small>
          by <code title={change.actorDid}>{shorten(change.actorDid)}</code>
        </small>
      )}
      <Facts facts={named ? notable(change.facts) : since(before?.facts, change.facts)} />
    </li>
  );
}

function useOlder(id: string | undefined, changes: TimelineFragment) {
  const [older, setOlder] = useState<readonly TimelineFragment[]>([]);
  const [error, setError] = useState<unknown>();
  const { hasPreviousPage, startCursor } = (older[0] ?? changes).pageInfo;
  const readOlder = (): void => {
    if (id === undefined || startCursor === null) return;
    read(OperationBeforeDocument, { id, before: startCursor }).then(
      ({ node }) => {
        if (node && 'changes' in node) setOlder([node.changes, ...older]);
      },
      (error: unknown) => {
        setError(error);
      },
    );
  };
  // Newer pages push the last of the first page out of it, so a change may be in two of them.
  const known = new Set(changes.nodes.map(({ cursor }) => cursor));
  const nodes = older.flatMap(({ nodes }) => nodes).filter(({ cursor }) => !known.has(cursor));
  return { older: nodes, hasOlder: id !== undefined && hasPreviousPage, error, readOlder };
}
