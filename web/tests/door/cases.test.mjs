// Faults that people reported of comparable software, by the ids of the list of cases: the same inputs by every way in,
// on the database that the server has.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { test } from 'node:test';
import {
  CLAIM,
  Events,
  JSON_TYPE,
  RESPONSE_JSON,
  Socket,
  assertRefused,
  claimInput,
  get,
  inUrl,
  post,
  server,
  within,
} from './support.mjs';

const VIEWER = '{ viewer { roles did } }';
const OF_OWNER = 'query ($ownerDid: String!) { operations(filter: {ownerDid: $ownerDid}) { nodes { id operationId lastKind lease { live } } } }';

const owner = () => `did:example:${randomUUID()}`;

async function stored(ownerDid) {
  const { body } = await post({ query: OF_OWNER, variables: { ownerDid } });
  return body.data.operations.nodes;
}

// Every way in. Each gives the errors of a refusal, and fails on anything else.
const WAYS = {
  async POST(asked) {
    const answer = await post(asked, { accept: RESPONSE_JSON });
    assert.equal(answer.status, 400, answer.text);
    return refused(answer.body);
  },
  async GET(asked) {
    const answer = await get(inUrl(asked), { accept: RESPONSE_JSON });
    assert.equal(answer.status, 400, answer.text);
    return refused(answer.body);
  },
  async SSE(asked) {
    const [next, complete] = await (await Events.open(asked)).all();
    assert.deepEqual([next.event, complete.event], ['next', 'complete']);
    return refused(next.data);
  },
  async WS(asked) {
    const socket = await Socket.open();
    try {
      socket.send({ id: '1', type: 'subscribe', payload: asked });
      const { type, payload } = await socket.next();
      assert.equal(type, 'error');
      return refused({ errors: payload });
    } finally {
      socket.end();
    }
  },
};

function refused(body) {
  assertRefused({ body, text: JSON.stringify(body) });
  return body.errors.map(({ message }) => message);
}

test('T01: the media type asked for is the one answered', async () => {
  for (const [accept, type] of [
    [RESPONSE_JSON, RESPONSE_JSON],
    [JSON_TYPE, JSON_TYPE],
    [undefined, JSON_TYPE],
    [`${JSON_TYPE}, ${RESPONSE_JSON};q=0.1`, JSON_TYPE],
  ]) {
    const good = await raw(accept, VIEWER);
    assert.deepEqual([good.status, good.type], [200, `${type}; charset=utf-8`]);
    assert.deepEqual(Object.keys(good.body.data.viewer), ['roles', 'did'], 'in the order asked');
    const unknown = await raw(accept, '{ nope }');
    assertRefused(unknown);
    // The audits' rule: what JSON alone is asked for is answered 200, as it always was.
    assert.deepEqual([unknown.status, unknown.type], [type === RESPONSE_JSON ? 400 : 200, `${type}; charset=utf-8`]);
    // Nothing runs of a document with an unknown field beside a known one.
    const input = claimInput({ ownerDid: owner() });
    assertRefused(await raw(accept, CLAIM.replace('{ outcome', '{ nope outcome'), { input }));
    assert.deepEqual(await stored(input.ownerDid), []);
  }
  for (const query of [VIEWER, '{ nope }']) assert.equal((await raw('application/xml', query)).status, 406);
});

// A POST with exactly this Accept, or with none: fetch would add its own.
async function raw(accept, query, variables) {
  const { hostname, port, host } = new URL(server);
  const body = JSON.stringify({ query, variables });
  const head = [`POST /graphql HTTP/1.1`, `host: ${host}`, 'connection: close', `content-type: ${JSON_TYPE}`, `content-length: ${Buffer.byteLength(body)}`];
  if (accept !== undefined) head.push(`accept: ${accept}`);
  const socket = connect(Number(port), hostname);
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  const [headers, text] = answer.split('\r\n\r\n');
  const type = /^content-type: (.*)$/im.exec(headers)?.[1];
  return { status: Number(headers.split(' ')[1]), type, text, body: JSON.parse(text) };
}

test('T03: batches are refused on every way in and nothing of them runs', async () => {
  const same = claimInput({ ownerDid: owner() });
  const others = Array.from({ length: 101 }, () => claimInput({ ownerDid: same.ownerDid }));
  const claims = (inputs) => inputs.map((input) => ({ query: CLAIM, variables: { input } }));
  for (const batch of [claims([same, same]), claims(others), []]) {
    const answer = await post(batch);
    assert.equal(answer.status, 400);
    assertRefused(answer);
    const events = await Events.open(batch);
    assert.equal(events.status, 400);
    events.end();
    const socket = await Socket.open();
    // A list is no message of the protocol, and no payload of one.
    socket.send({ id: '1', type: 'subscribe', payload: batch });
    assert.equal((await socket.closing()).code, 4400);
  }
  assert.deepEqual(await stored(same.ownerDid), []);
});

test('T04: what is not a request is 400, in JSON, without a look inside', async () => {
  const query = '{ viewer { did } }';
  for (const body of ['', '{"query":"{ viewer', '"{ viewer { did } }"', '{"query":{}}', JSON.stringify({ query, variables: [] }), '{"variables":{}}']) {
    for (const accept of [JSON_TYPE, RESPONSE_JSON]) {
      const answer = await post(body, { accept });
      assert.deepEqual([answer.status, answer.type], [400, `${accept}; charset=utf-8`], answer.text);
      assertRefused(answer);
    }
    const events = await Events.open(body);
    assert.deepEqual([events.status, events.type], [400, `${JSON_TYPE}; charset=utf-8`]);
    events.end();
    assert.equal((await post({ query })).status, 200, 'the next request is served');
  }
  // What of this can stand in a URL.
  for (const parameters of [{}, { query, variables: '[]' }, { query, variables: '{"a":' }, { variables: '{}' }]) {
    const answer = await get(parameters);
    assert.equal(answer.status, 400);
    assertRefused(answer);
  }
  // And in a message, where what is no message closes the socket instead.
  for (const payload of [{ query: {} }, { query, variables: [] }, { variables: {} }]) await WAYS.WS(payload);
});

test('T07: what costs too much is refused alike on every way in, at once, and nobody waits for it', async () => {
  const ownerDid = owner();
  const nested = (levels) => `{ operation(callerDid: "a", operationId: "b") { ${'reissuedFrom { '.repeat(levels)} id ${'} '.repeat(levels)} } }`;
  const claims = Array.from({ length: 5_000 }, (_, n) => `c${n}: claimOperation(input: $i${n}) { outcome }`);
  const inputs = Object.fromEntries(claims.map((_, n) => [`i${n}`, claimInput({ ownerDid })]));
  const mutation = (count) => {
    const definitions = Array.from({ length: count }, (_, n) => `$i${n}: ClaimOperationInput!`);
    return `mutation (${definitions.join(' ')}) { ${claims.slice(0, count).join(' ')} }`;
  };
  const directives = (count) => `{ viewer { did ${'@include(if: true) '.repeat(count)} } }`;
  const other = await poll();
  assert.equal((await post({ query: nested(14) })).status, 200, 'as deep as may be');
  for (const [what, asked, ways] of [
    ['one level too many', { query: nested(15) }, ['POST', 'GET', 'WS', 'SSE']],
    ['5,000 aliases', { query: mutation(5_000) }, ['POST', 'WS', 'SSE']],
    ['as many aliases as a URL holds', { query: mutation(400) }, ['POST', 'GET', 'WS', 'SSE']],
    ['aliases with their variables', { query: mutation(100), variables: Object.fromEntries(Object.entries(inputs).slice(0, 100)) }, ['POST', 'WS', 'SSE']],
    ['10,000 directives', { query: directives(10_000) }, ['POST', 'WS', 'SSE']],
    ['as many directives as a URL holds', { query: directives(1_000) }, ['POST', 'GET', 'WS', 'SSE']],
  ]) {
    const messages = [];
    for (const way of ways) {
      const started = performance.now();
      messages.push(await WAYS[way](asked));
      assert.ok(performance.now() - started < 1_000, `${what} by ${way}`);
    }
    for (const message of messages) assert.deepEqual(message, messages[0], what);
  }
  // A URL is bounded before it is a document.
  for (const query of [mutation(5_000), directives(10_000)]) {
    const answer = await get({ query }).catch((error) => ({ status: error.cause?.code }));
    assert.ok([414, 431, 'UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(answer.status), String(answer.status));
  }
  assert.deepEqual(await stored(ownerDid), []);
  const slowest = await other();
  assert.ok(slowest < 1_000, `another client waited ${slowest} ms`);
});

// Asks again and again; answers with a function that ends it and tells the longest wait.
async function poll() {
  let slowest = 0;
  let ends = false;
  const polling = (async () => {
    while (!ends) {
      const started = performance.now();
      assert.equal((await post({ query: VIEWER })).status, 200);
      slowest = Math.max(slowest, performance.now() - started);
    }
  })();
  return async () => {
    ends = true;
    await polling;
    return slowest;
  };
}

test('T10: text that cannot be kept is refused on every way in, and nothing changes', async () => {
  const input = claimInput({ ownerDid: owner(), leaseToken: 'token' });
  const claimed = await post({ query: CLAIM, variables: { input } });
  const { id } = claimed.body.data.claimOperation.operation;
  const before = await stored(input.ownerDid);
  const query = 'mutation ($input: RecordOperationInput!) { recordOperation(input: $input) { outcome } }';
  const record = { id, leaseToken: 'token', version: 0, toState: 'ATTEMPTED' };
  const intent = claimInput({ ownerDid: input.ownerDid, reissueIntent: { deep: ['a\u0000b'] } });
  for (const asked of [
    { query, variables: { input: { ...record, kind: 'failed\u0000' } } },
    { query: CLAIM, variables: { input: intent } },
  ]) {
    const code = async (send) => (await send)[0].extensions.code;
    assert.equal(await code(post(asked).then(({ body }) => body.errors)), 'BAD_INPUT');
    assert.equal(await code(Events.open(asked).then((events) => events.all()).then(([{ data }]) => data.errors)), 'BAD_INPUT');
    const socket = await Socket.open();
    socket.send({ id: '1', type: 'subscribe', payload: asked });
    const { payload } = await socket.next();
    assert.equal((payload.errors ?? payload)[0].extensions.code, 'BAD_INPUT');
    socket.end();
  }
  const read = { query: 'query ($id: String!) { operation(callerDid: "a", operationId: $id) { id } }', variables: { id: 'a\u0000' } };
  assert.equal((await get(inUrl(read))).body.errors[0].extensions.code, 'BAD_INPUT');

  const whole = JSON.stringify({ query, variables: { input: { ...record, kind: 'KIND' } } });
  const surrogate = whole.replace('KIND', '\\ud800');
  const byte = Buffer.concat(whole.split('KIND').map(Buffer.from).flatMap((part, n) => (n ? [Buffer.from([0xff]), part] : [part])));
  for (const body of [surrogate, byte]) {
    for (const accept of [JSON_TYPE, 'text/event-stream']) assert.equal((await post(body, { accept })).status, 400);
  }
  assert.equal((await fetch(`${server}/graphql?query=%7Bviewer%7Bdid%7D%7D&variables=%ff`)).status, 400);
  for (const [text, binary] of [[surrogate, false], [byte, false], [byte, true]]) {
    const socket = await Socket.open();
    const message = Buffer.concat([Buffer.from('{"id":"1","type":"subscribe","payload":'), Buffer.from(text), Buffer.from('}')]);
    socket.ws.send(message, { binary });
    assert.equal((await within(5_000, 'the close', socket.closed)).code, 4400);
  }
  assert.deepEqual(await stored(input.ownerDid), before);
});
