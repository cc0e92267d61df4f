// A dialog as every act uses it: titled, closed by Escape or its button, the focus back where it was.
import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Icon } from './icons';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  // While something runs that closing would leave in doubt.
  busy?: boolean;
}

export function Dialog({ title, onClose, children, wide = false, busy = false }: Props) {
  return (
    <Base.Root
      open
      onOpenChange={(open) => {
        if (!open && !busy) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className={wide ? 'dialog wide' : 'dialog'}>
          <header>
            <Base.Title>{title}</Base.Title>
            <Base.Close className="icon-button" aria-label="Close" disabled={busy}>
              <Icon name="close" />
            </Base.Close>
          </header>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
