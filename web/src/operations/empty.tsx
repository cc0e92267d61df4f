// What an empty list teaches: the request that fills it.
import { Copy } from '../ui/parts';

const CLAIM = {
  query:
    'mutation Claim($input: ClaimOperationInput!) { claimOperation(input: $input) { outcome operation { id state version } } }',
  variables: {
    input: {
      callerDid: 'did:example:worker',
      operationId: 'op-1',
      ownerDid: 'did:example:alice',
      connectorName: 'calendar',
      model: 'event',
      op: 'CREATE',
      accountKey: 'alice@example.com',
      target: 'calendars/primary',
      deterministicEventId: 'event-1',
      payloadHash: 'sha256-of-the-payload',
      documentId: 'document-1',
      leaseToken: 'a-fresh-random-token',
      leaseMs: 60_000,
    },
  },
};

export function claimRequest(origin: string): string {
  const body = JSON.stringify(CLAIM, null, 2);
  return `curl ${origin}/graphql \\\n  -H 'content-type: application/json' \\\n  --data '${body}'`;
}

export function FirstOperation() {
  const request = claimRequest(location.origin);
  return (
    <section className="empty">
      <h2>No operation yet</h2>
      <p>
        A connector claims an operation before it writes to a provider, drives it under a lease, and finalizes it once the
        provider has it. Claim one, and it appears here at once:
      </p>
      <div className="snippet">
        <Copy text={request} label="Copy the claim request" />
        <pre>{request}</pre>
      </div>
      <p>
        Or write it in the <a href="/playground">playground</a>.
      </p>
    </section>
  );
}

export function NoMatch({ what }: { what: string }) {
  return (
    <section className="empty">
      <h2>No {what} matches</h2>
      <p>Nothing fits these filters now. Leave the page open: one that does will appear here.</p>
    </section>
  );
}
