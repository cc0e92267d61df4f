// Server-sent events, by the "distinct connections mode" of graphql-sse: with its own client, and line by line.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { createClient } from 'graphql-sse';
import { CLAIM, Events, assertRefused, claimInput, endpoint, get, here, launch, post, server, within } from './support.mjs';

const VIEWER = '{ viewer { roles did } }';
const FOLLOW = 'subscription ($filter: ChangeFilter, $after: String) { changes(filter: $filter, after: $after) { operation: node { ... on Operation { operationId } } } }';

// Most of it is the connection's own buffers.
const IDLE_KB = 25;

let owners = 0;
// An owner whose changes are no other test's.
function owner() {
  owners += 1;
  return `did:example:sse-${process.pid}-${owners}`;
}

async function claim(ownerDid, url) {
  const { body } = await post({ query: CLAIM, variables: { input: claimInput({ ownerDid }) } }, {}, url);
  assert.equal(body.data.claimOperation.outcome, 'CLAIMED');
  return body.data.claimOperation.operation.operationId;
}

const told = ({ data }) => data.data.changes.operation.operationId;

test('graphql-sse runs queries and mutations, and is told of errors', async () => {
  const client = createClient({ url: endpoint, retryAttempts: 0 });
  const query = client.iterate({ query: VIEWER });
  assert.deepEqual(Object.keys((await query.next()).value.data.viewer), ['roles', 'did']);
  assert.equal((await query.next()).done, true, 'completed');
  const claimed = await client.iterate({ query: CLAIM, variables: { input: claimInput() } }).next();
  assert.equal(claimed.value.data.claimOperation.outcome, 'CLAIMED');
  for (const query of ['{ nope }', '{', 'subscription { nope }', 'subscription { changes(after: "nope") { cursor } }']) {
    const refused = client.iterate({ query });
    const { value } = await refused.next();
    assert.equal(value.errors[0].extensions.code, 'BAD_INPUT', query);
    assert.equal((await refused.next()).done, true, 'completed after the errors');
  }
});

test('graphql-sse follows changes in order', async () => {
  const ownerDid = owner();
  const after = await here();
  const client = createClient({ url: endpoint, retryAttempts: 0 });
  const changes = client.iterate({ query: FOLLOW, variables: { after, filter: { ownerDid } } });
  for (let n = 0; n < 10; n += 1) {
    const id = await claim(ownerDid);
    const { value } = await within(10_000, 'a change', changes.next());
    assert.equal(value.data.changes.operation.operationId, id);
  }
  await changes.return();
});

test('an event has the cursor as its id, asked for or not, and nothing else is added', async () => {
  const ownerDid = owner();
  const after = await here();
  const id = await claim(ownerDid);
  const node = (await post({ query: `{ operations(filter: {ownerDid: "${ownerDid}"}) { nodes { id } } }` })).body.data.operations.nodes[0].id;
  const cursor = (await post({ query: `{ changes(last: 1, filter: {ownerDid: "${ownerDid}"}) { nodes { cursor } } }` })).body.data.changes.nodes[0].cursor;
  for (const by of ['POST', 'GET']) {
    for (const [query, data] of [
      ['changes(after: $after, filter: {ownerDid: "OWNER"}) { transition }', { changes: { transition: 'claim' } }],
      ['changes(after: $after, filter: {ownerDid: "OWNER"}) { c: cursor cursor }', { changes: { c: cursor, cursor } }],
      ['o: operationChanged(after: $after, id: "NODE") { operation { operationId } }', { o: { operation: { operationId: id } } }],
    ]) {
      const asked = { query: `subscription ($after: String) { ${query.replace('OWNER', ownerDid).replace('NODE', node)} }`, variables: { after } };
      const events = await Events.open(asked, { by });
      assert.deepEqual([events.status, events.type], [200, 'text/event-stream; charset=utf-8']);
      assert.deepEqual(await events.data(), { event: 'next', id: cursor, data: { data } });
      events.end();
    }
  }
  const due = await Events.open({ query: 'subscription { workDue { operations } }' });
  assert.deepEqual(Object.keys(await due.data()), ['event', 'data'], 'what has no cursor has no id');
  due.end();
});

test('whoever comes back with Last-Event-ID misses nothing and gets nothing twice', async () => {
  const ownerDid = owner();
  const before = await here();
  const made = [];
  for (let n = 0; n < 3; n += 1) made.push(await claim(ownerDid));
  const filter = { ownerDid };
  const first = await Events.open({ query: FOLLOW, variables: { filter, after: before } }, { by: 'GET' });
  const got = [await first.data(), await first.data()];
  first.end();
  const last = got[1].id;
  for (let n = 0; n < 3; n += 1) made.push(await claim(ownerDid));
  const inside = (argument) => `subscription { changes(filter: {ownerDid: "${ownerDid}"} ${argument}) { operation: node { ... on Operation { operationId } } } }`;
  for (const [what, asked] of [
    ['no after', { query: inside('') }],
    ['an after of null', { query: FOLLOW, variables: { filter, after: null } }],
    // As a browser comes back: with the URL that it began with. What came last counts.
    ['an older after as a variable', { query: FOLLOW, variables: { filter, after: before } }],
    ['an older after in the document', { query: inside(`after: "${before}"`) }],
  ]) {
    for (const by of ['POST', 'GET']) {
      const again = await Events.open(asked, { by, headers: { 'last-event-id': last } });
      const rest = [];
      for (let n = 0; n < 4; n += 1) rest.push(await again.data());
      assert.deepEqual([...got, ...rest].map(told), made, `${what}, by ${by}`);
      again.end();
    }
  }
});

test('a bad Last-Event-ID is answered like a bad after, and one that nothing goes on from is refused', async () => {
  const bad = async (asked, headers) => {
    const events = await (await Events.open(asked, { headers })).all();
    assert.deepEqual(events.map(({ event }) => event), ['next', 'complete']);
    assert.equal(events[0].id, undefined);
    return events[0].data.errors;
  };
  const query = 'subscription { changes { cursor } }';
  const after = await bad({ query: 'subscription { changes(after: "nope") { cursor } }' });
  const header = await bad({ query }, { 'last-event-id': 'nope' });
  const plain = ({ message, extensions }) => ({ message, extensions });
  assert.deepEqual(header.map(plain), after.map(plain));
  assert.equal(header[0].extensions.field, 'after');
  for (const other of ['subscription { workDue { operations } }', VIEWER]) {
    const [error] = await bad({ query: other }, { 'last-event-id': 'nope' });
    assert.match(error.message, /^Last-Event-ID/);
    assert.equal(error.extensions.code, 'BAD_INPUT');
  }
});

test('what cannot be a stream has a status; what is refused as a document is told on the stream', async () => {
  for (const [status, asked, by, headers] of [
    [400, '{"query":', 'POST', {}],
    [400, '[]', 'POST', {}],
    [415, '{"query":"{ viewer { did } }"}', 'POST', { 'content-type': 'text/plain' }],
    [405, { query: CLAIM, variables: { input: claimInput() } }, 'GET', {}],
    [400, { query: 'subscription { changes { cursor } }' }, 'POST', { accept: 'application/json' }],
    [406, { query: VIEWER }, 'POST', { accept: 'text/html' }],
  ]) {
    const refused = await Events.open(asked, { by, headers });
    assert.deepEqual([refused.status, refused.type], [status, 'application/json; charset=utf-8']);
    refused.end();
  }
  const events = await (await Events.open({ query: 'mutation { nope }' })).all();
  assertRefused({ body: events[0].data, text: JSON.stringify(events[0].data) });
  assert.deepEqual(events[1], { event: 'complete', data: '' });
});

test('a client that takes both gets JSON for one answer and events for a subscription', async () => {
  const accept = 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed';
  assert.match((await post({ query: VIEWER }, { accept })).type, /^application\/graphql-response\+json/);
  const due = await Events.open({ query: 'subscription { workDue { operations } }' }, { headers: { accept } });
  assert.equal((await due.data()).event, 'next');
  due.end();
});

test('pages of other origins open no stream, and cannot read what a query answers', async () => {
  for (const origin of ['https://evil.example', 'null']) {
    const headers = { origin };
    const refused = await Events.open({ query: 'subscription { changes { cursor } }' }, { by: 'GET', headers });
    assert.equal(refused.status, 403);
    refused.end();
    const query = await get({ query: VIEWER }, headers);
    assert.equal(query.headers.get('access-control-allow-origin'), null);
    assert.equal(query.headers.get('vary'), 'Origin');
  }
  const own = await Events.open({ query: 'subscription { workDue { operations } }' }, { by: 'GET', headers: { origin: server } });
  assert.equal(own.status, 200);
  own.end();
});

test('a server that stops ends its streams without complete, and its client goes on at the next without a gap', async () => {
  const ownerDid = owner();
  let own = await launch();
  const { database, url } = own;
  try {
    const after = await here(own.graphql);
    let last;
    const client = createClient({
      url: own.graphql,
      retryAttempts: 50,
      retry: () => new Promise((resolve) => setTimeout(resolve, 100)),
      headers: () => (last ? { 'last-event-id': last } : {}),
    });
    const query = FOLLOW.replace('{ operation', '{ cursor operation');
    const changes = client.iterate({ query, variables: { after, filter: { ownerDid } } });
    const raw = await Events.open({ query, variables: { after, filter: { ownerDid } } }, { url: own.graphql });
    const made = [];
    const got = [];
    const take = async () => {
      const { value } = await within(20_000, 'a change', changes.next());
      last = value.data.changes.cursor;
      got.push(value.data.changes.operation.operationId);
    };
    for (let n = 0; n < 3; n += 1) {
      made.push(await claim(ownerDid, own.graphql));
      await take();
      await raw.data();
    }
    made.push(await claim(ownerDid, own.graphql));
    await raw.data();
    await take();
    assert.deepEqual(await own.stop(), { code: 0, signal: null });
    assert.equal(await raw.next(), undefined, 'ended, and not completed');
    own = { ...(await launch([], { database, listen: new URL(url).host })), clear: own.clear };
    made.push(await claim(ownerDid, own.graphql));
    await take();
    assert.deepEqual(got, made);
    await changes.return();
    own.signal('SIGKILL');
  } finally {
    own.clear();
  }
});

test('an idle stream costs little, and holds no connection to the database', async () => {
  const own = await launch();
  const streams = [];
  try {
    const open = async () => {
      const events = await Events.open({ query: FOLLOW, variables: { filter: { ownerDid: owner() } } }, { url: own.graphql });
      streams.push(events);
    };
    // What is built once is built before it counts; and there are more of them than connections to the database.
    for (let n = 0; n < 20; n += 1) await open();
    const before = own.memoryKb();
    for (let n = 0; n < 300; n += 1) await open();
    await claim(owner(), own.graphql);
    const each = (own.memoryKb() - before) / 300;
    assert.ok(each < IDLE_KB, `${each.toFixed(1)} kB each`);
    console.log(`# an idle stream: ${each.toFixed(1)} kB`);
  } finally {
    for (const stream of streams) stream.end();
    own.clear();
  }
});

// Waits in real time, side by side.
describe('patience', { concurrency: true }, () => {
  test('a stream on which nothing happens has a comment now and then', async () => {
    const events = await Events.open({ query: FOLLOW, variables: { filter: { ownerDid: owner() } } });
    assert.deepEqual(await events.next(25_000), { comment: '' });
    events.end();
  });

  test('a reader that takes nothing for ten seconds is let go, and the server holds little for it', async () => {
    const own = await launch(['--log', 'info,writewatch::http=debug']);
    try {
      const after = await here(own.graphql);
      const { hostname, port, host } = new URL(own.url);
      const socket = connect(Number(port), hostname);
      const query = 'subscription ($after: String) { changes(after: $after) { documentId } }';
      const path = `/graphql?${new URLSearchParams({ query, variables: JSON.stringify({ after }) })}`;
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`);
      await within(5_000, 'the stream', new Promise((resolve) => socket.once('data', resolve)));
      socket.pause();
      const memory = own.memoryKb();
      const winners = 'mutation ($inputs: [RecordWinnerInput!]!) { recordWinners(inputs: $inputs) { outcome } }';
      let changes = 0;
      for (let batch = 0; batch < 60; batch += 1) {
        const inputs = Array.from({ length: 500 }, (_, n) => ({ documentId: `${batch}-${n}-${'x'.repeat(400)}`, digest: 'w' }));
        const { body } = await post({ query: winners, variables: { inputs } }, {}, own.graphql);
        changes += body.data.recordWinners.length;
      }
      const grown = own.memoryKb() - memory;
      assert.ok(grown < 40_000, `the server holds ${grown} kB more`);
      const given = async () => {
        while (!own.log.includes('a connection ended early')) await new Promise((resolve) => setTimeout(resolve, 50));
      };
      await within(25_000, 'end of the server\'s patience', given());
      // The system holds some megabytes of the 15; no more than that comes now.
      let bytes = 0;
      const ended = new Promise((resolve) => socket.on('close', resolve));
      socket.on('error', () => {});
      socket.on('data', (chunk) => (bytes += chunk.length));
      socket.resume();
      await within(10_000, 'the end of the connection', ended);
      assert.ok(bytes < changes * 400, `all ${bytes} bytes came`);
      // It is not held up for others.
      assert.equal((await post({ query: VIEWER }, {}, own.graphql)).status, 200);
    } finally {
      own.clear();
    }
  });
});
