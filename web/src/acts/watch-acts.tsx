// What a person may do to one watch.
import { useViewer } from '../graphql/useViewer';
import type { WatchRowFragment } from '../graphql/generated';
import { ActDialog } from './act-dialog';
import { ActButtons } from './buttons';
import { repull, type Result } from './perform';
import { whyNoRepull } from './reasons';

export function WatchActs({ watch }: { watch: WatchRowFragment }) {
  const viewer = useViewer();
  const perform = async (note: string): Promise<Result> => {
    const [result] = await repull([watch.id], note);
    return result ?? { done: false, say: 'The server answered nothing.' };
  };
  return (
    <ActButtons
      acts={[
        {
          key: 'repull',
          label: 'Re-pull…',
          why: whyNoRepull(watch, viewer),
          dialog: (onClose, onDone) => (
            <ActDialog
              title="Re-pull"
              about={<p>Opens a new generation, due now: the provider is read again, with all its attempts, whatever was found before.</p>}
              confirm="Re-pull"
              perform={perform}
              onClose={onClose}
              onDone={onDone}
            />
          ),
        },
      ]}
    />
  );
}
