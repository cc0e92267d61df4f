// What is shown until somebody may read: the form for a token, or why the server cannot be asked.
import { useState, type ReactNode } from 'react';
import { session, type SessionState } from '../graphql/session';
import { Trouble } from '../ui/parts';

export function Gate({ state }: { state: Exclude<SessionState, { now: 'ready' }> }) {
  switch (state.now) {
    case 'asking':
      return <Alone>{<p className="hint">Asking the server…</p>}</Alone>;
    case 'unreachable':
      return (
        <Alone>
          <Trouble error={state.error} retry={session.askAgain} />
          <p className="hint">This page goes on by itself once the server answers.</p>
        </Alone>
      );
    case 'signed-out':
      return (
        <Alone>
          <SignIn why={state.why} />
        </Alone>
      );
  }
}

function Alone({ children }: { children: ReactNode }) {
  return (
    <main id="main" className="alone">
      <h1 className="brand">
        <img src="/icon.svg" alt="" width="28" height="28" />
        <span>writewatch</span>
      </h1>
      {children}
    </main>
  );
}

function SignIn({ why }: { why: string | undefined }) {
  const [token, setToken] = useState('');
  return (
    <form
      className="sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== '') session.signIn(token.trim());
      }}
    >
      <h2>Sign in</h2>
      <p>This server asks who you are. Paste a token that it accepts.</p>
      {why !== undefined && (
        <p className="trouble" role="alert">
          {why}
        </p>
      )}
      <label className="stacked">
        <span>Token</span>
        <textarea
          value={token}
          rows={4}
          required
          autoFocus
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setToken(event.target.value);
          }}
        />
      </label>
      <p className="hint">It is kept in memory only, never stored. Other open tabs of this page may use it, and it is gone with the last of them.</p>
      <button type="submit" className="primary">
        Sign in
      </button>
    </form>
  );
}
