// The dialog of one act: what it does, what it asks for, why somebody does it, and what came of it.
import { useId, useState, type ReactNode } from 'react';
import { Dialog } from '../ui/dialog';
import { Trouble } from '../ui/parts';
import type { Result } from './perform';

interface Props {
  title: string;
  // What will happen, and what to know before.
  about: ReactNode;
  confirm: string;
  danger?: boolean;
  children?: ReactNode;
  perform: (note: string) => Promise<Result>;
  onDone: (say: string) => void;
  onClose: () => void;
}

export function ActDialog({ title, about, confirm, danger = false, children, perform, onDone, onClose }: Props) {
  const [note, setNote] = useState('');
  const [phase, setPhase] = useState<{ busy: boolean; refusal?: string; error?: unknown }>({ busy: false });
  const act = async (): Promise<void> => {
    setPhase({ busy: true });
    try {
      const { done, say } = await perform(note);
      if (done) onDone(say);
      else setPhase({ busy: false, refusal: say });
    } catch (error) {
      setPhase({ busy: false, error });
    }
  };
  return (
    <Dialog title={title} onClose={onClose} busy={phase.busy}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void act();
        }}
      >
        <div className="about">{about}</div>
        {children}
        <Note value={note} onChange={setNote} />
        {phase.refusal !== undefined && (
          <p className="trouble" role="alert">
            {phase.refusal}
          </p>
        )}
        {phase.error !== undefined && <Trouble error={phase.error} />}
        <p className="actions">
          <button type="button" onClick={onClose} disabled={phase.busy}>
            Cancel
          </button>
          <button type="submit" className={danger ? 'danger' : 'primary'} disabled={phase.busy}>
            {phase.busy ? 'At work…' : confirm}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

export const NOTE_LENGTH = 1_000;

export function Note({ value, onChange }: { value: string; onChange: (note: string) => void }) {
  const hint = useId();
  return (
    <label className="stacked">
      <span>Why?</span>
      <textarea
        rows={2}
        maxLength={NOTE_LENGTH}
        value={value}
        aria-describedby={hint}
        placeholder="For whoever reads the timeline later"
        onChange={(event) => {
          onChange(event.target.value);
        }}
      />
      <small id={hint}>Kept with the act in the timeline.</small>
    </label>
  );
}
