// Finds anything by an id or its beginning: operations, watches, sweep candidates, and the document of that name.
import { useEffect, useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { read } from '../graphql/client';
import { SearchDocument, type SearchQuery } from '../graphql/generated';
import { Dialog } from '../ui/dialog';
import { Badge, Trouble } from '../ui/parts';
import { words } from '../ui/words';

type Found = SearchQuery['search'][number];

interface Hit {
  key: string;
  kind: string;
  title: string;
  about: string;
  state: string | undefined;
  href: string;
}

const FIRST = 20;
const TYPING_MS = 120;

export function SearchDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const { hits, error } = useHits(text.trim());
  const [chosen, setChosen] = useState(0);
  const [, navigate] = useLocation();
  const go = (hit: Hit | undefined): void => {
    if (!hit) return;
    onClose();
    navigate(hit.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + hits.length) % hits.length);
    } else if (event.key === 'Enter') go(hits[chosen]);
  };
  return (
    <Dialog title="Find" onClose={onClose} wide>
      <input
        className="find"
        type="search"
        role="combobox"
        aria-label="An id, or its beginning"
        aria-expanded={hits.length > 0}
        aria-controls="hits"
        aria-activedescendant={hits.length > 0 ? `hit-${String(chosen)}` : undefined}
        placeholder="Operation, document, source or event id, or its beginning"
        value={text}
        autoFocus
        spellCheck={false}
        autoComplete="off"
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
      />
      {error !== undefined && <Trouble error={error} />}
      <Hits hits={hits} chosen={chosen} go={go} />
      {text.trim() === '' && (
        <p className="hint">
          Finds operations by node id, operation id, document, source or event; watches by document or source; sweep candidates
          by document. Exact matches come first.
        </p>
      )}
    </Dialog>
  );
}

function Hits({ hits, chosen, go }: { hits: readonly Hit[]; chosen: number; go: (hit: Hit) => void }) {
  return (
    <ul id="hits" className="hits" role="listbox" aria-label="What was found">
      {hits.map((hit, index) => (
        <li
          key={hit.key}
          id={`hit-${String(index)}`}
          role="option"
          aria-selected={index === chosen}
          onClick={() => {
            go(hit);
          }}
        >
          <small className="kind">{hit.kind}</small>
          <span className="id">{hit.title}</span>
          <small>{hit.about}</small>
          {hit.state !== undefined && <Badge state={hit.state} />}
        </li>
      ))}
    </ul>
  );
}

function useHits(text: string): { hits: readonly Hit[]; error: unknown } {
  const [answer, setAnswer] = useState<{ text: string; hits: readonly Hit[]; error: unknown }>({ text: '', hits: [], error: undefined });
  useEffect(() => {
    if (text === '') return undefined;
    let current = true;
    const timer = setTimeout(() => {
      read(SearchDocument, { text, first: FIRST }).then(
        ({ search }) => {
          if (current) setAnswer({ text, hits: [...search.map(toHit), documentHit(text)], error: undefined });
        },
        (error: unknown) => {
          if (current) setAnswer({ text, hits: [], error });
        },
      );
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  return text === '' ? { hits: [], error: undefined } : answer;
}

function documentHit(text: string): Hit {
  const href = `/documents?doc=${encodeURIComponent(text)}`;
  return { key: 'document', kind: 'document', title: text, about: 'look up the document with exactly this id', state: undefined, href };
}

function toHit(node: Found): Hit {
  const key = node.id;
  const opened = `open=${encodeURIComponent(node.id)}`;
  switch (node.__typename) {
    case 'Operation': {
      const about = `${words(node.op)} ${node.model} · ${node.connectorName}`;
      return { key, kind: 'operation', title: node.operationId, about, state: node.state, href: `/operations?${opened}` };
    }
    case 'Watch': {
      const about = `${node.model} · ${node.connectorName}`;
      return { key, kind: 'watch', title: node.watchedDocumentId, about, state: node.status, href: `/watches?${opened}` };
    }
    case 'SweepCandidate': {
      const about = node.receipt ? `${node.receipt.partition} · ${node.receipt.connectorName}` : node.modelId;
      const href = `/sweeps?${new URLSearchParams({ ...(node.receipt && { partition: node.receipt.partition }), view: 'candidates' }).toString()}`;
      return { key, kind: 'candidate', title: node.candidateDocumentId, about, state: node.candidateState, href };
    }
    case 'SweepReceipt': {
      const href = `/sweeps?${new URLSearchParams({ partition: node.partition }).toString()}`;
      return { key, kind: 'receipt', title: node.provenance, about: node.partition, state: undefined, href };
    }
    case 'SyncState':
      return { key, kind: 'sync', title: node.ownerDid, about: node.connectorName, state: undefined, href: '/sync' };
  }
}
