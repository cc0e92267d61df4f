// Operations as a short list of links that open them in the panel.
import { Link } from 'wouter';
import type { OperationOp, OperationState } from '../graphql/generated';
import { useOpenHref } from '../ui/address';
import { Badge } from '../ui/parts';
import { Time } from '../ui/time';
import { shorten, words } from '../ui/words';

interface Linked {
  readonly id: string;
  readonly operationId: string;
  readonly op: OperationOp;
  readonly model: string;
  readonly state: OperationState;
  readonly updatedAt: string;
}

export function OperationLinks({ operations }: { operations: readonly Linked[] }) {
  const hrefTo = useOpenHref();
  return (
    <ul className="links">
      {operations.map(({ id, operationId, op, model, state, updatedAt }) => (
        <li key={id}>
          <Badge state={state} />
          <Link href={hrefTo({ node: id })} title={operationId}>
            {words(op)} {model} <span className="id">{shorten(operationId)}</span>
          </Link>
          <small>
            <Time at={updatedAt} />
          </small>
        </li>
      ))}
    </ul>
  );
}
