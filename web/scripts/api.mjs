// What the scripts that fill a server share: requests to its API, and values that look like a connector's.
import { randomUUID } from 'node:crypto';

export function api(url, headers = {}) {
  return async (query, variables) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = await response.json();
    if (errors) throw new Error(errors.map(({ message }) => message).join('; '));
    return data;
  };
}

export const OWNERS = ['ada', 'grace', 'edsger', 'barbara', 'alan', 'hedy'].map((name) => `did:web:${name}.example`);
export const CALLER = 'did:web:connector.example';
// A connector with the model that it writes and where.
export const CONNECTORS = [
  { connectorName: 'calendar', model: 'event', target: 'calendars/primary' },
  { connectorName: 'contacts', model: 'contact', target: 'people' },
  { connectorName: 'crm', model: 'deal', target: 'pipelines/sales' },
  { connectorName: 'tasks', model: 'task', target: 'lists/inbox' },
];

// The claim of a write as a connector would make it, one of many by its number.
export function claimOf(number, more = {}) {
  const ownerDid = OWNERS[number % OWNERS.length];
  const connector = CONNECTORS[Math.floor(number / OWNERS.length) % CONNECTORS.length];
  const name = ownerDid.slice('did:web:'.length).split('.')[0];
  return {
    callerDid: CALLER,
    operationId: `${connector.model}-${String(number).padStart(7, '0')}-${randomUUID().slice(0, 8)}`,
    ownerDid,
    ...connector,
    op: ['CREATE', 'UPDATE', 'UPDATE', 'DELETE'][number % 4],
    accountKey: `${name}@example.org`,
    deterministicEventId: randomUUID(),
    payloadHash: randomUUID().replaceAll('-', ''),
    documentId: `${connector.model}:${name}:${String(number)}`,
    leaseToken: randomUUID(),
    leaseMs: 1_000,
    ...more,
  };
}

export const CLAIMS = `mutation ($inputs: [ClaimOperationInput!]!) {
  claimOperations(inputs: $inputs) { outcome operation { id version state } }
}`;

// Claims in one commit; answers each claim with the row that it made.
export async function claimMany(request, inputs) {
  const { claimOperations } = await request(CLAIMS, { inputs });
  return inputs.map((input, index) => ({ ...input, ...claimOperations[index].operation }));
}

export function inMs(ms) {
  return new Date(Date.now() + ms).toISOString();
}
