// Small parts that every view uses.
import { useEffect, useState, type ReactNode } from 'react';
import { explain } from '../graphql/explain';
import { meaningOf, shorten, toneOf, words } from './words';

export function Badge({ state }: { state: string }) {
  return (
    <span className="badge" data-tone={toneOf(state)} title={meaningOf(state)}>
      {words(state)}
    </span>
  );
}

// From one state to another, or the one it stayed in.
export function Move({ change: { fromState, toState } }: { change: { fromState: string | null; toState: string | null } }) {
  if (toState === null) return <Nothing />;
  return (
    <>
      {fromState !== null && fromState !== toState && <small className="from">{words(fromState)} → </small>}
      <Badge state={toState} />
    </>
  );
}

export function Id({ value, full = false }: { value: string; full?: boolean }) {
  return (
    <span className="id" title={full ? undefined : value}>
      {full ? value : shorten(value)}
    </span>
  );
}

export function Nothing() {
  return (
    <span className="nothing" aria-label="none">
      –
    </span>
  );
}

const COPIED_MS = 1_500;

export function Copy({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState<'copied' | 'failed'>();
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => {
      setDone(undefined);
    }, COPIED_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [done]);
  // The clipboard is there on https and on localhost only.
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('copied');
    } catch {
      setDone('failed');
    }
  };
  return (
    <button type="button" className="quiet" aria-label={label} title={label} onClick={() => void copy()}>
      {done === 'copied' ? 'Copied' : done === 'failed' ? 'Select it to copy' : 'Copy'}
    </button>
  );
}

export function Trouble({ error, retry }: { error: unknown; retry?: () => void }) {
  const { what, todo } = explain(error);
  return (
    <div className="trouble" role="alert">
      <p>
        <strong>{what}</strong> {todo}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Json({ value }: { value: unknown }) {
  return (
    <pre className="json" tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

export function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="field">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
