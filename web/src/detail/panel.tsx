// The panel beside a view that shows one thing in full. Escape closes it and gives the focus back.
import { useEffect, useRef, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useOpened, useOpenHref } from '../ui/address';
import { Icon } from '../ui/icons';
import { Copy, Trouble } from '../ui/parts';
import { words } from '../ui/words';
import { DocumentSections } from './document';
import { OperationSections } from './operation';
import { CandidateSections } from './candidate';
import { ReceiptSections } from './receipt';
import { SyncStateSections } from './sync-state';
import { useDetail, useDocument, type Detail } from './useDetail';
import { WatchSections } from './watch';

export function DetailPanel() {
  const opened = useOpened();
  if (!opened) return null;
  return 'node' in opened ? <NodePanel key={opened.node} id={opened.node} /> : <DocumentPanel key={opened.document} id={opened.document} />;
}

function NodePanel({ id }: { id: string }) {
  const { value: node, error, reload } = useDetail(id);
  return (
    <Panel title={node ? titleOf(node) : 'Details'} id={id} idName="Node id">
      {error !== undefined && <Trouble error={error} retry={reload} />}
      {node === undefined && error === undefined && <p className="hint">Reading…</p>}
      {node === null && <p className="hint">There is nothing with this id, or it is not yours to see.</p>}
      {node?.__typename === 'Operation' && <OperationSections operation={node} />}
      {node?.__typename === 'Watch' && <WatchSections watch={node} />}
      {node?.__typename === 'SweepReceipt' && <ReceiptSections receipt={node} />}
      {node?.__typename === 'SweepCandidate' && <CandidateSections candidate={node} />}
      {node?.__typename === 'SyncState' && <SyncStateSections state={node} />}
    </Panel>
  );
}

function DocumentPanel({ id }: { id: string }) {
  const { value: document, error, reload } = useDocument(id);
  return (
    <Panel title="Document" id={id} idName="Document id">
      {error !== undefined && <Trouble error={error} retry={reload} />}
      {document === undefined && error === undefined && <p className="hint">Reading…</p>}
      {document && <DocumentSections document={document} />}
    </Panel>
  );
}

function Panel({ title, id, idName, children }: { title: string; id: string; idName: string; children: ReactNode }) {
  const [, navigate] = useLocation();
  const href = useOpenHref();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
  }, []);
  const close = (): void => {
    navigate(href(undefined));
    document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] .opener`)?.focus();
  };
  return (
    <aside
      className="panel"
      aria-labelledby="panel-title"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) close();
      }}
    >
      <header>
        <h2 id="panel-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <p className="panel-id">
        <span className="hint">{idName}</span> <code className="id">{id}</code> <Copy text={id} label={`Copy: ${idName}`} />
      </p>
      {children}
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
