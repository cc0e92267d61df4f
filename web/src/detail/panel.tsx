// The panel beside a list that shows one operation or watch in full. Escape closes it and gives the focus back.
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useOpenHref, useOpenId } from '../ui/address';
import { Copy, Trouble } from '../ui/parts';
import { words } from '../ui/words';
import { OperationSections } from './operation';
import { WatchSections } from './watch';
import { useDetail, type Detail } from './useDetail';

export function DetailPanel() {
  const id = useOpenId();
  return id === undefined ? null : <Panel key={id} id={id} />;
}

function Panel({ id }: { id: string }) {
  const { node, error, reload } = useDetail(id);
  const [, navigate] = useLocation();
  const href = useOpenHref();
  const title = useRef<HTMLHeadingElement>(null);

  const close = (): void => {
    navigate(href(undefined));
    document.querySelector<HTMLElement>(`tr[data-id="${CSS.escape(id)}"] .opener`)?.focus();
  };
  useEffect(() => {
    title.current?.focus();
  }, []);

  return (
    <aside
      className="panel"
      aria-labelledby="panel-title"
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
    >
      <header>
        <h2 id="panel-title" ref={title} tabIndex={-1}>
          {node ? titleOf(node) : 'Details'}
        </h2>
        <button type="button" className="quiet" onClick={close}>
          Close
        </button>
      </header>
      {error !== undefined && <Trouble error={error} retry={reload} />}
      {node === undefined && error === undefined && <p className="hint">Reading…</p>}
      {node === null && <p className="hint">There is nothing with this id, or it is not yours to see.</p>}
      {node?.__typename === 'Operation' && <OperationSections operation={node} />}
      {node?.__typename === 'Watch' && <WatchSections watch={node} />}
      {node && (
        <footer>
          <span>Node id</span> <code className="id">{node.id}</code> <Copy text={node.id} label="Copy the node id" />
        </footer>
      )}
    </aside>
  );
}

function titleOf(node: Detail): string {
  switch (node.__typename) {
    case 'Operation':
      return `${words(node.op)} ${node.model}`;
    case 'Watch':
      return `Watch on ${node.model}`;
    case 'SweepReceipt':
      return 'Receipt of a relist';
    case 'SweepCandidate':
      return 'Candidate of a sweep';
    case 'SyncState':
      return 'Sync state';
  }
}
