// Signing in, by the clients people use: @kokuin/token makes the tokens, graphql-ws follows; and case S05 frame by frame.
// The server was started with --auth did and this audience.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIdentity, stringifyToken } from '@kokuin/token';
import { getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { CLAIM, Socket, assertRefused, claimInput, endpoint, get, post, socketEndpoint, within } from '../door/support.mjs';

const audience = process.env.WRITEWATCH_AUDIENCE;
assert.ok(audience, 'WRITEWATCH_AUDIENCE must be the audience of the server');

const VIEWER = '{ viewer { did roles } }';
const CHANGES = 'subscription ($after: String) { changes(after: $after) { cursor transition } }';
const seconds = () => Math.floor(Date.now() / 1000);

async function tokenOf(identity, claims = {}) {
  return stringifyToken(await identity.signToken({ aud: audience, exp: seconds() + 600, ...claims }));
}

const bearer = (token) => ({ authorization: `Bearer ${token}` });

// A claim of somebody's for themselves.
function ownClaim(identity) {
  return { query: CLAIM, variables: { input: claimInput({ callerDid: identity.id, ownerDid: identity.id }) } };
}

async function claims(identity) {
  const { body } = await post(ownClaim(identity), bearer(await tokenOf(identity)));
  assert.equal(body.data.claimOperation.outcome, 'CLAIMED');
}

async function operationsOf(identity) {
  const query = 'query ($did: String!) { operations(filter: { ownerDid: $did }) { totalCount } }';
  const { body } = await post({ query, variables: { did: identity.id } }, bearer(await tokenOf(identity)));
  return body.data.operations.totalCount;
}

async function socketWith(options, use) {
  const socket = await Socket.open({ init: false, ...options });
  try {
    await use(socket);
  } finally {
    socket.end();
  }
}

const init = (payload) => ({ type: 'connection_init', payload });

test('a token of @kokuin/token signs in, and without one nothing is answered, not even introspection', async () => {
  const identity = randomIdentity();
  const { body } = await post({ query: VIEWER }, bearer(await tokenOf(identity)));
  assert.deepEqual(body.data.viewer, { did: identity.id, roles: [] });
  for (const query of [VIEWER, getIntrospectionQuery(), '{ nope', 'mutation { nope }']) {
    const refused = await post({ query });
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
    assertRefused(refused, 'UNAUTHENTICATED');
  }
  const token = await tokenOf(identity);
  assert.equal((await get({ query: VIEWER, access_token: token, authorization: `Bearer ${token}` })).status, 401, 'never in a URL');
  assert.equal((await get({ query: VIEWER }, bearer(token))).body.data.viewer.did, identity.id);
});

test('GraphiQL introspects and subscribes when signed in, within every limit', async () => {
  const identity = randomIdentity();
  const query = getIntrospectionQuery({ schemaDescription: true, specifiedByUrl: true, inputValueDeprecation: true });
  const { body } = await post({ query }, bearer(await tokenOf(identity)));
  assert.ok(body.data.__schema.types.length > 50);
  // Its headers go with connection_init as they were typed.
  const connectionParams = { Authorization: `Bearer ${await tokenOf(identity)}` };
  const client = createClient({ url: socketEndpoint, webSocketImpl: WebSocket, lazy: false, retryAttempts: 0, connectionParams });
  try {
    const changes = client.iterate({ query: CHANGES });
    const change = changes.next();
    assert.equal((await client.iterate({ query: VIEWER }).next()).value.data.viewer.did, identity.id);
    await claims(identity);
    assert.equal((await within(10_000, 'a change', change)).value.data.changes.transition, 'claim');
  } finally {
    await client.dispose();
  }
});

test('S05a: a subscribe before init is 4401, whatever the upgrade brought', async () => {
  const headers = bearer(await tokenOf(randomIdentity()));
  await socketWith({ headers }, async (socket) => {
    socket.subscribe('1', VIEWER);
    assert.equal((await socket.closing()).code, 4401);
  });
});

test('S05b: what is pipelined behind an init runs as who signs in by it, or not at all', async () => {
  const identity = randomIdentity();
  const token = await tokenOf(identity);
  await socketWith({}, async (socket) => {
    socket.send(init(bearer(token)));
    socket.subscribe('1', VIEWER);
    assert.deepEqual(await socket.next(), { type: 'connection_ack' });
    assert.equal((await socket.next()).payload.data.viewer.did, identity.id);
  });
  await socketWith({}, async (socket) => {
    socket.send(init(bearer(`${token}x`)));
    socket.send({ id: '1', type: 'subscribe', payload: ownClaim(identity) });
    assert.equal((await socket.closing()).code, 4403);
  });
  assert.equal(await operationsOf(identity), 0, 'nothing ran');
});

test('S05c: an init without a token that is accepted is 4403', async () => {
  const identity = randomIdentity();
  const token = await tokenOf(identity);
  const payloads = [
    undefined,
    {},
    { token },
    { authorization: token },
    { authorization: 7 },
    { authorization: `Basic ${token}` },
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${token}`, Authorization: `Bearer ${token}` },
    bearer(await tokenOf(identity, { exp: seconds() - 70 })),
    bearer(await tokenOf(identity, { aud: 'https://other.example' })),
    bearer(await tokenOf(identity, { nbf: seconds() + 90 })),
    bearer(`${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${token.split('.')[1]}.`),
  ];
  for (const payload of payloads) {
    await socketWith({}, async (socket) => {
      socket.send(init(payload));
      const { code, reason } = await socket.closing();
      assert.deepEqual([code, reason], [4403, 'Forbidden'], JSON.stringify(payload));
    });
  }
});

test('a token of the upgrade counts when the init brings none, and never against it', async () => {
  const [first, second] = [randomIdentity(), randomIdentity()];
  const headers = bearer(await tokenOf(first));
  const signedIn = async (payload) => {
    let did;
    await socketWith({ headers }, async (socket) => {
      socket.send(init(payload));
      assert.deepEqual(await socket.next(), { type: 'connection_ack' });
      socket.subscribe('1', VIEWER);
      did = (await socket.next()).payload.data.viewer.did;
    });
    return did;
  };
  assert.equal(await signedIn(undefined), first.id);
  assert.equal(await signedIn({ other: 1 }), first.id);
  assert.equal(await signedIn({ AUTHORIZATION: `bearer ${await tokenOf(second)}` }), second.id);
  await socketWith({ headers }, async (socket) => {
    socket.send(init({ authorization: 'Bearer x' }));
    assert.equal((await socket.closing()).code, 4403);
  });
});

test('S05e to h hold when signed in', async () => {
  const payload = bearer(await tokenOf(randomIdentity()));
  for (const [message, code] of [[init(payload), 4429], [{ type: 'start', id: '1' }, 4400], ['{"type":', 4400]]) {
    await socketWith({}, async (socket) => {
      socket.send(init(payload));
      assert.deepEqual(await socket.next(), { type: 'connection_ack' });
      socket.send(message);
      assert.equal((await socket.closing()).code, code);
    });
  }
  await socketWith({}, async (socket) => {
    socket.send(init(payload));
    assert.deepEqual(await socket.next(), { type: 'connection_ack' });
    socket.subscribe('1', '{ nope }');
    const { type, payload: errors } = await socket.next();
    assert.equal(type, 'error');
    assertRefused({ body: { errors }, text: JSON.stringify(errors) });
  });
});

test('a stream of events needs a token too, and ends with it', async () => {
  const identity = randomIdentity();
  const follow = (headers) =>
    fetch(endpoint, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: CHANGES }),
    });
  const refused = await follow({});
  assert.equal(refused.status, 401);
  assert.match(await refused.text(), /UNAUTHENTICATED/);
  const response = await follow(bearer(await tokenOf(identity, { exp: seconds() + 3 })));
  assert.equal(response.status, 200);
  await claims(identity);
  const text = await within(10_000, 'the end', response.text());
  const events = text.split('\n\n').filter((event) => event && !event.startsWith(':'));
  assert.equal(events.length, 3, text);
  assert.match(events[0], /^event: next\nid: .*\ndata: .*"transition":"claim"/);
  assert.match(events[1], /^event: next\ndata: \{"errors":.*"UNAUTHENTICATED"/);
  assert.equal(events[2], 'event: complete\ndata: ');
});

test('graphql-ws comes again with a fresh token when the first has expired, and misses nothing', async () => {
  const identity = randomIdentity();
  let tokens = 0;
  const connectionParams = async () => {
    tokens += 1;
    return bearer(await tokenOf(identity, tokens === 1 ? { exp: seconds() + 3 } : {}));
  };
  const client = createClient({ url: socketEndpoint, webSocketImpl: WebSocket, lazy: false, retryAttempts: 5, connectionParams });
  try {
    const first = client.iterate({ query: CHANGES });
    const change = first.next();
    await client.iterate({ query: VIEWER }).next();
    await claims(identity);
    const { cursor } = (await within(10_000, 'a change', change)).value.data.changes;
    const [ended] = await within(10_000, 'the end', first.next().then(() => assert.fail('not ended'), (errors) => errors));
    assert.equal(ended.extensions.code, 'UNAUTHENTICATED');
    await claims(identity);
    const again = client.iterate({ query: CHANGES, variables: { after: cursor } });
    assert.equal((await within(10_000, 'what was missed', again.next())).value.data.changes.transition, 'claim');
    assert.equal(tokens, 2);
  } finally {
    await client.dispose();
  }
});
