// A field in which one looks for something by its id.
import { useState } from 'react';

interface Props {
  label: string;
  hint: string;
  // What its button says.
  act: string;
  // What was looked for.
  found?: string;
  onFind: (text: string) => void;
  onEmpty?: () => void;
}

export function LookUp({ label, hint, act, found = '', onFind, onEmpty }: Props) {
  const [text, setText] = useState(found);
  return (
    <form
      className="look-up"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onFind(text.trim());
      }}
    >
      <input
        type="search"
        aria-label={label}
        placeholder={hint}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setText(event.target.value);
          if (event.target.value === '') onEmpty?.();
        }}
      />
      <button type="submit">{act}</button>
    </form>
  );
}
