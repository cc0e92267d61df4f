// graphql-transport-ws, frame by frame: every close code, the order of messages, and who waits how long.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import WebSocket from 'ws';
import { CLAIM, Socket, assertRefused, claimInput, here, launch, post, socketEndpoint, within } from './support.mjs';

const CHANGES = 'subscription { changes { cursor transition } }';
const VIEWER = '{ viewer { roles did } }';

async function opened(options, use) {
  const socket = await Socket.open(options);
  try {
    await use(socket);
  } finally {
    socket.end();
  }
}

const closes = (name, options, code, act) =>
  test(name, () =>
    opened(options, async (socket) => {
      await act(socket);
      assert.equal((await socket.closing()).code, code);
    }));

test('S05a: subscribe before init is 4401, and nothing runs', () =>
  opened({ init: false }, async (socket) => {
    const input = claimInput();
    socket.subscribe('1', CLAIM, { input });
    assert.equal((await socket.closing()).code, 4401);
    const query = `{ operation(callerDid: "did:example:door", operationId: "${input.operationId}") { id } }`;
    assert.equal((await post({ query })).body.data.operation, null);
  }));

test('S05b: what is sent behind the init runs after the acknowledgement', () =>
  opened({ init: false }, async (socket) => {
    socket.send({ type: 'connection_init' });
    socket.subscribe('1', VIEWER);
    assert.deepEqual(await socket.next(), { type: 'connection_ack' });
    assert.deepEqual(Object.keys((await socket.next()).payload.data), ['viewer']);
  }));

closes('S05e: a second init is 4429', {}, 4429, (socket) => socket.send({ type: 'connection_init' }));
closes('S05f: an unknown type is 4400', {}, 4400, (socket) => socket.send({ type: 'start', id: '1' }));
closes('S05g: broken JSON is 4400', {}, 4400, (socket) => socket.send('{"type":"ping"'));
closes('S05g: broken JSON is 4400 before init, too', { init: false }, 4400, (socket) => socket.send('nope'));
closes('a message without its id is 4400', {}, 4400, (socket) => socket.send({ type: 'complete' }));
closes('a subscribe without a request is 4400', {}, 4400, (socket) => socket.send({ type: 'subscribe', id: '1' }));
closes('a binary message is 4400', {}, 4400, (socket) => socket.send(Buffer.from('{"type":"ping"}')));
closes('a message larger than a body is 4400', {}, 4400, (socket) =>
  socket.send({ type: 'ping', payload: { x: 'x'.repeat(1024 * 1024) } }),
);
closes('T10: text that is no UTF-8 is 4400', {}, 4400, (socket) =>
  socket.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false }),
);
closes('a taken id is 4409, the first stream having been there', {}, 4409, (socket) => {
  socket.subscribe('1', CHANGES);
  socket.subscribe('1', CHANGES);
});

test('a taken id of any length gives a reason that fits its frame', () =>
  opened({}, async (socket) => {
    const id = 'é'.repeat(120);
    socket.subscribe(id, CHANGES);
    socket.subscribe(id, CHANGES);
    const { code, reason } = await socket.closing();
    assert.equal(code, 4409);
    assert.ok(Buffer.byteLength(reason) <= 123 && reason.startsWith('Subscriber for é'));
  }));

test('no subprotocol of ours is 4406', async () => {
  for (const protocols of [[], ['graphql-ws']]) {
    const ws = new WebSocket(socketEndpoint, protocols);
    const code = await within(
      5_000,
      'an end',
      new Promise((resolve) => {
        ws.on('error', (error) => resolve(error.message));
        ws.on('close', (code) => resolve(code));
      }),
    );
    // A client that asked for another protocol notices first that it did not get it.
    assert.equal(code, protocols.length === 0 ? 4406 : 'Server sent no subprotocol');
    ws.terminate();
  }
});

test('S05h: a document that is refused is an error message, and the socket lives on', () =>
  opened({}, async (socket) => {
    for (const payload of [
      { query: '{ nope }' },
      { query: '{' },
      { query: 'subscription { changes { cursor } watchChanged { cursor } }' },
      { query: 'subscription { ...Two } fragment Two on Subscription { changes { cursor } watchChanged { cursor } }' },
      { query: 'subscription { nope }' },
      { query: `{ ${'viewer {'.repeat(100)}` },
      { query: CLAIM, variables: {} },
      { query: 7 },
      {},
    ]) {
      socket.send({ id: 'x', type: 'subscribe', payload });
      const { type, id, payload: errors } = await socket.next();
      assert.deepEqual([type, id], ['error', 'x']);
      assertRefused({ body: { errors }, text: JSON.stringify(errors) });
    }
    socket.subscribe('x', VIEWER);
    assert.equal((await socket.next()).type, 'next');
    assert.deepEqual(await socket.next(), { type: 'complete', id: 'x' });
  }));

test('queries and mutations run over the socket, answered in order', () =>
  opened({}, async (socket) => {
    const input = claimInput();
    socket.send({ id: 'm', type: 'subscribe', payload: { query: CLAIM, variables: { input } } });
    const { payload } = await socket.next();
    assert.equal(payload.data.claimOperation.outcome, 'CLAIMED');
    assert.deepEqual(Object.keys(payload.data.claimOperation.operation), ['id', 'operationId', 'target', 'state']);
    assert.deepEqual(await socket.next(), { type: 'complete', id: 'm' });
    socket.subscribe('q', VIEWER);
    assert.deepEqual(Object.keys((await socket.next()).payload.data.viewer), ['roles', 'did']);
  }));

test('a subscription gives each change once, and none after complete', () =>
  opened({}, async (socket) => {
    const claimed = async () => {
      const { body } = await post({ query: CLAIM, variables: { input: claimInput() } });
      assert.equal(body.data.claimOperation.outcome, 'CLAIMED');
    };
    const query = 'subscription ($filter: ChangeFilter, $after: String) { changes(filter: $filter, after: $after) { transition cursor } }';
    socket.subscribe('s', query, { filter: { ownerDid: 'did:example:door-owner' }, after: await here() });
    await claimed();
    const { type, id, payload } = await socket.next();
    assert.deepEqual([type, id, Object.keys(payload.data.changes)], ['next', 's', ['transition', 'cursor']]);
    socket.send({ type: 'complete', id: 's' });
    socket.send({ type: 'complete', id: 'unknown' });
    socket.send({ type: 'ping', payload: { n: 1 } });
    assert.deepEqual(await socket.next(), { type: 'pong', payload: { n: 1 } });
    await claimed();
    socket.subscribe('s', VIEWER);
    assert.deepEqual(Object.keys((await socket.next()).payload.data), ['viewer'], 'the id is free, the stream is gone');
    assert.deepEqual(await socket.next(), { type: 'complete', id: 's' });
  }));

test('a hundred subscriptions fit on a socket and no more', () =>
  opened({}, async (socket) => {
    for (let n = 0; n < 101; n += 1) socket.subscribe(`s${n}`, CHANGES);
    const { type, id, payload } = await socket.next();
    assert.deepEqual([type, id, payload[0].extensions.code], ['error', 's100', 'BUSY']);
  }));

test('a client that closes is answered', () =>
  opened({}, async (socket) => {
    socket.subscribe('s', CHANGES);
    socket.ws.close(1000, 'bye');
    assert.equal((await socket.closing()).code, 1000);
  }));

test('a server that stops answers what runs and says 1012 in a close frame', async () => {
  const own = await launch();
  try {
    const url = own.graphql.replace(/^http/, 'ws');
    const [idle, opening] = [await Socket.open({ url }), await Socket.open({ url, init: false })];
    idle.subscribe('s', CHANGES);
    idle.subscribe('q', VIEWER);
    while ((await idle.next()).type !== 'complete');
    const stopped = own.stop();
    for (const socket of [idle, opening]) {
      assert.deepEqual(await socket.closing(), { code: 1012, reason: 'Service Restart' });
    }
    assert.deepEqual(await stopped, { code: 0, signal: null });
  } finally {
    own.clear();
  }
});

// Whether the server still has this client's connection, as the system sees it.
function isConnected(port) {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').map((row) => row.trim().split(/\s+/));
  return rows.some(([, , address, state]) => address?.endsWith(remote) && state === '01');
}

test('pages of other origins open no socket', async () => {
  const attempt = (origin) =>
    within(
      5_000,
      'an answer',
      new Promise((resolve) => {
        const ws = new WebSocket(socketEndpoint, 'graphql-transport-ws', { origin });
        ws.on('unexpected-response', (request, response) => {
          request.destroy();
          resolve(response.statusCode);
        });
        ws.on('open', () => {
          ws.terminate();
          resolve('open');
        });
        ws.on('error', () => {});
      }),
    );
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
    assert.equal(await attempt(origin), 403, origin);
  }
  for (const origin of [new URL(socketEndpoint.replace(/^ws/, 'http')).origin, undefined]) {
    assert.equal(await attempt(origin), 'open', origin);
  }
});

// The waits are the protocol's and ours in real time, so they run side by side.
describe('patience', { concurrency: true }, () => {
  test('S05d: no init is 4408 after ten seconds', () =>
    opened({ init: false }, async (socket) => {
      const started = performance.now();
      socket.send({ type: 'ping' });
      assert.deepEqual(await socket.next(), { type: 'pong' });
      assert.equal((await socket.closing(15_000)).code, 4408);
      assert.ok(performance.now() - started > 9_000, 'a ping is no init');
    }));

  test('the server pings by frame and by message, and either answer will do', () =>
    opened({ autoPong: false }, async (socket) => {
      await within(25_000, 'a ping frame', socket.pinged, socket.closed);
      assert.deepEqual(await socket.next(), { type: 'ping' });
      socket.send({ type: 'pong' });
      assert.deepEqual(await socket.next(25_000), { type: 'ping' });
    }));

  test('a client that shows no sign of life after a ping is let go', () =>
    opened({ autoPong: false }, async (socket) => {
      await within(25_000, 'a ping frame', socket.pinged, socket.closed);
      assert.equal((await socket.closing(15_000)).code, 1001);
    }));

  test('a busy stream is not cut, whose client does nothing but take and answer pings', () =>
    opened({}, async (socket) => {
      const ownerDid = 'did:example:door-busy';
      socket.subscribe('s', 'subscription ($filter: ChangeFilter) { changes(filter: $filter) { cursor } }', { filter: { ownerDid } });
      let pings = 0;
      let told = 0;
      const started = performance.now();
      // Longer than from a ping to the end of patience with it.
      while (performance.now() - started < 33_000) {
        await post({ query: CLAIM, variables: { input: claimInput({ ownerDid }) } });
        const { type } = await socket.next();
        if (type === 'ping') pings += 1;
        else told += 1;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.ok(pings >= 1 && told > 100, `${pings} pings, ${told} changes`);
      assert.equal(socket.ws.readyState, WebSocket.OPEN);
    }));

  test('a client that takes nothing for ten seconds is let go', async () => {
    const own = await launch();
    const socket = await Socket.open({ url: own.graphql.replace(/^http/, 'ws') });
    try {
      socket.subscribe('s', 'subscription { changes { documentId } }');
      socket.subscribe('q', VIEWER);
      while ((await socket.next()).type !== 'complete');
      const connection = socket.ws._socket;
      const port = connection.localPort;
      connection.pause();
      const query = 'mutation ($inputs: [RecordWinnerInput!]!) { recordWinners(inputs: $inputs) { outcome } }';
      for (let batch = 0; batch < 60; batch += 1) {
        const inputs = Array.from({ length: 500 }, (_, n) => ({ documentId: `${batch}-${n}-${'x'.repeat(400)}`, digest: 'w' }));
        assert.equal((await post({ query, variables: { inputs } }, {}, own.graphql)).status, 200);
      }
      assert.ok(isConnected(port), 'there for a while');
      const gone = async () => {
        while (isConnected(port)) await new Promise((resolve) => setTimeout(resolve, 100));
      };
      await within(25_000, "end of the server's patience", gone());
    } finally {
      socket.end();
      own.clear();
    }
  });

  test('a client that sends no pings and answers frames only is kept', () =>
    opened({}, async (socket) => {
      for (const nth of ['first', 'second']) {
        assert.deepEqual(await socket.next(25_000), { type: 'ping' }, nth);
      }
      socket.subscribe('q', VIEWER);
      assert.equal((await socket.next()).type, 'next');
    }));
});
