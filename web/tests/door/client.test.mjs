// The clients people use, unchanged: graphql-ws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { CLAIM, claimInput, here, post, socketEndpoint, within } from './support.mjs';

const client = () => createClient({ url: socketEndpoint, webSocketImpl: WebSocket, lazy: false, retryAttempts: 0 });

test('graphql-ws runs queries, mutations and subscriptions', async () => {
  const connection = client();
  try {
    const query = connection.iterate({ query: '{ viewer { did roles } }' });
    assert.ok((await query.next()).value.data.viewer.roles);
    assert.equal((await query.next()).done, true);

    const filter = { ownerDid: 'did:example:door-client' };
    const changes = connection.iterate({
      query: 'subscription ($filter: ChangeFilter, $after: String) { changes(filter: $filter, after: $after) { cursor transition } }',
      variables: { filter, after: await here() },
    });
    const change = changes.next();
    const input = claimInput({ ownerDid: filter.ownerDid });
    const claim = await connection.iterate({ query: CLAIM, variables: { input } }).next();
    assert.equal(claim.value.data.claimOperation.outcome, 'CLAIMED');
    assert.ok((await within(10_000, 'a change', change)).value.data.changes.cursor);
    await changes.return();
  } finally {
    await connection.dispose();
  }
});

test('graphql-ws is told of a refused document as an error', async () => {
  const connection = client();
  try {
    await assert.rejects(
      () => connection.iterate({ query: '{ nope }' }).next(),
      (errors) => Array.isArray(errors) && errors[0].extensions.code === 'BAD_INPUT',
    );
  } finally {
    await connection.dispose();
  }
});

test('what is asked by HTTP is answered alike', async () => {
  const connection = client();
  try {
    const query = 'query Q { viewer { roles did } }';
    const { value } = await connection.iterate({ query }).next();
    assert.equal(JSON.stringify({ data: value.data }), (await post({ query })).text);
  } finally {
    await connection.dispose();
  }
});
