// Small parts that every view uses.
import { useEffect, useState, type ReactNode } from 'react';
import { explain } from '../graphql/explain';
import { Icon } from './icons';
import { meaningOf, shorten, toneOf, words } from './words';

export function Badge({ state, meaning = meaningOf(state) }: { state: string; meaning?: string | undefined }) {
  return (
    <span className="badge" data-tone={toneOf(state)} title={meaning}>
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

interface CopyProps {
  // What is copied, or how to make it once it is asked for.
  text: string | (() => string);
  label: string;
  // Whether the label is shown, where there is room.
  named?: boolean;
}

export function Copy({ text, label, named = false }: CopyProps) {
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
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setDone('copied');
    } catch {
      setDone('failed');
    }
  };
  return (
    <button type="button" className={named ? undefined : 'copy'} aria-label={label} title={label} onClick={() => void copy()}>
      {named ? 'Copy as JSON' : <Icon name="copy" />}
      <span role="status">{done === 'copied' ? 'copied' : done === 'failed' ? 'select it to copy' : ''}</span>
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

export function Json({ value, name }: { value: unknown; name: string }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <div className="json">
      <Copy text={text} label={`Copy: ${name}`} />
      <pre tabIndex={0} aria-label={name}>
        {text}
      </pre>
    </div>
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

// Names and values as they stand, each to be copied.
export function Fields({ fields }: { fields: readonly (readonly [string, string | null])[] }) {
  return (
    <dl className="fields">
      {fields.map(([name, value]) => (
        <Field key={name} name={name}>
          {value === null ? (
            <Nothing />
          ) : (
            <>
              <Id value={value} full /> <Copy text={value} label={`Copy: ${name}`} />
            </>
          )}
        </Field>
      ))}
    </dl>
  );
}
