// What settings change of the door, each on a server of its own: rate limits, documents by hash, other origins, names, logs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { CLAIM, Events, RESPONSE_JSON, Socket, assertRefused, claimInput, endpoint, get, inUrl, launch, post, socketEndpoint } from './support.mjs';

const VIEWER = '{ viewer { roles did } }';
const UUID = /^[0-9a-f]{32}$/;

const hashOf = (text) => createHash('sha256').update(text).digest('hex');
const persistedQuery = (sha256Hash, version = 1) => ({ extensions: { persistedQuery: { version, sha256Hash } } });

const pendingAuth = (secret) => ({
  state: `${secret}-state`,
  codeVerifier: `${secret}-verifier`,
  provider: 'google',
  ownerDid: 'did:example:door',
  redirectUrl: 'https://books.example/back',
  scopes: ['calendar'],
  incremental: false,
  expiresAt: new Date(Date.now() + 60_000).toISOString(),
});

async function withServer(args, use, options) {
  const own = await launch(args, options);
  try {
    await use(own);
  } finally {
    own.clear();
  }
}

// Asks by every way in; the answers, as far as they are the same on all of them.
async function everyWay(asked, url = endpoint) {
  const posted = await post(asked, { accept: RESPONSE_JSON }, url);
  const got = await get({ ...inUrl(asked), ...(asked.extensions && { extensions: JSON.stringify(asked.extensions) }) }, { accept: RESPONSE_JSON }, url);
  assert.deepEqual([got.status, got.body], [posted.status, posted.body]);
  const [{ data: event }] = await (await Events.open(asked, { url })).all();
  assert.deepEqual(event, posted.body);
  const socket = await Socket.open({ url: url.replace(/^http/, 'ws') });
  socket.send({ id: '1', type: 'subscribe', payload: asked });
  const { type, payload } = await socket.next();
  assert.deepEqual(type === 'error' ? { errors: payload } : payload, posted.body);
  socket.end();
  return posted;
}

test('a document is known by its hash once it was sent with it, on every way in', async () => {
  const query = `{ viewer { did } } # ${process.pid}`;
  const hash = hashOf(query);
  for (const asked of [persistedQuery(hash), { documentId: `sha256:${hash}` }]) {
    const unknown = await everyWay(asked);
    assert.equal(unknown.status, 400);
    assertRefused(unknown, 'PERSISTED_QUERY_NOT_FOUND');
    assert.equal(unknown.body.errors[0].message, 'PersistedQueryNotFound', 'what Apollo looks for');
  }
  const other = await everyWay({ query: `${query} else`, ...persistedQuery(hash) });
  assert.equal(other.status, 400);
  assertRefused(other);
  assertRefused(await everyWay(persistedQuery(hash)), 'PERSISTED_QUERY_NOT_FOUND');
  assert.equal((await everyWay({ query, ...persistedQuery(hash) })).body.data.viewer.did, null);
  for (const asked of [persistedQuery(hash), persistedQuery(hash.toUpperCase()), { documentId: hash }]) {
    assert.deepEqual((await everyWay(asked)).body, { data: { viewer: { did: null } } });
  }
  const following = await Events.open({ query: 'subscription { workDue { operations } }', ...persistedQuery(hashOf('subscription { workDue { operations } }')) });
  assert.equal((await following.data()).event, 'next');
  following.end();
});

test('a reference to a document that is none is refused', async () => {
  for (const asked of [
    persistedQuery('abc'),
    persistedQuery(hashOf('x'), 2),
    { extensions: { persistedQuery: {} } },
    { documentId: 'sha512:ab' },
    { documentId: 7 },
    { documentId: hashOf('a'), ...persistedQuery(hashOf('b')) },
  ]) {
    const answer = await post(asked);
    assert.equal(answer.status, 400, answer.text);
    assertRefused(answer);
  }
});

test('documents that are refused are not remembered', async () => {
  const query = `{ viewer { did ${'@include(if: true) '.repeat(60)} } }`;
  assertRefused(await post({ query, ...persistedQuery(hashOf(query)) }));
  assertRefused(await post(persistedQuery(hashOf(query))), 'PERSISTED_QUERY_NOT_FOUND');
});

test('with a list of documents those run and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writewatch-documents.'));
  const file = join(folder, 'documents.json');
  try {
    const made = spawnSync('node', [new URL('../../scripts/persist.mjs', import.meta.url).pathname, file], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    const { default: listed } = await import(`file://${file}`, { with: { type: 'json' } });
    const texts = Object.values(listed);
    assert.ok(texts.length >= 5 && texts.some((text) => text.startsWith('subscription')));
    writeFileSync(file, JSON.stringify({ ...listed, [hashOf(VIEWER)]: VIEWER }));
    await withServer(['--persisted-documents', file], async ({ graphql }) => {
      for (const asked of [{ query: VIEWER }, persistedQuery(hashOf(VIEWER)), { documentId: `sha256:${hashOf(VIEWER)}` }]) {
        assert.deepEqual(Object.keys((await everyWay(asked, graphql)).body.data), ['viewer']);
      }
      const others = ['{ viewer { did } }', `${VIEWER} `, '{ __schema { queryType { name } } }', 'subscription { changes { cursor } }'];
      const asked = others.flatMap((query) => [{ query }, { query, ...persistedQuery(hashOf(query)) }, persistedQuery(hashOf(query))]);
      for (const other of [...asked, { query: VIEWER, ...persistedQuery(hashOf('x')) }]) {
        const code = other.query === VIEWER ? 'BAD_INPUT' : 'FORBIDDEN';
        assertRefused(await everyWay(other, graphql), code);
      }
      const input = claimInput();
      assertRefused(await post({ query: CLAIM, variables: { input } }, {}, graphql), 'FORBIDDEN');
      // Of the page's own documents not one is refused for what it is.
      for (const query of texts) {
        const { body } = await post({ query }, {}, graphql);
        for (const { extensions } of body.errors ?? []) assert.notEqual(extensions.code, 'FORBIDDEN', query);
      }
    });
    for (const [content, wrong] of [
      ['{', 'no JSON object'],
      [JSON.stringify({ [hashOf('a')]: 'b' }), 'is not the SHA-256'],
      [JSON.stringify({ abc: 'b' }), '64 hexadecimal digits'],
    ]) {
      writeFileSync(file, content);
      const refused = spawnSync(process.env.WRITEWATCH_BINARY, ['--persisted-documents', file], { encoding: 'utf8' });
      assert.equal(refused.status, 2);
      assert.ok(refused.stderr.includes('--persisted-documents') && refused.stderr.includes(wrong), refused.stderr);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a caller that asks too often is told how long to wait, by every way in', () =>
  withServer(['--rate-limit', '1', '--rate-burst', '5'], async ({ graphql, url }) => {
    const socket = await Socket.open({ url: graphql.replace(/^http/, 'ws') });
    const answers = [];
    for (let n = 0; n < 8; n += 1) answers.push(await post({ query: VIEWER }, {}, graphql));
    // The upgrade was one.
    assert.deepEqual(answers.slice(0, 4).map(({ status }) => status), [200, 200, 200, 200]);
    const refused = [
      ...answers.slice(6),
      await get({ query: VIEWER }, {}, graphql),
      await post({ query: VIEWER }, { accept: 'text/event-stream' }, graphql),
    ];
    for (const answer of refused) {
      assert.equal(answer.status, 429);
      assertRefused(answer, 'BUSY');
      const wait = Number(answer.headers.get('retry-after'));
      assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 5, String(wait));
    }
    socket.subscribe('q', VIEWER);
    const { type, payload } = await socket.next();
    assert.deepEqual([type, payload[0].extensions.code], ['error', 'BUSY']);
    socket.end();
    const input = claimInput();
    assertRefused(await post({ query: CLAIM, variables: { input } }, {}, graphql), 'BUSY');
    assert.equal((await fetch(`${url}/readyz`)).status, 200, 'only the API is counted');
    const deadline = Date.now() + 10_000;
    let again;
    do again = await post({ query: VIEWER }, {}, graphql);
    while (again.status === 429 && Date.now() < deadline);
    assert.equal(again.status, 200, 'once it has waited');
  }));

// As a browser asks and reads: the answer's status, and what it says of who may read it.
async function crossOrigin(url, origin, { method = 'POST', headers = {}, body } = {}) {
  const response = await fetch(url, { method, headers: { origin, ...headers }, body });
  const of = (name) => response.headers.get(`access-control-${name}`);
  await response.body?.cancel();
  return { status: response.status, origin: of('allow-origin'), credentials: of('allow-credentials'), methods: of('allow-methods'), headers: of('allow-headers'), exposed: of('expose-headers'), vary: response.headers.get('vary') };
}

test('pages of configured origins may ask and read, others learn nothing', () =>
  withServer(['--allow-origin', 'https://desk.example'], async ({ graphql, url }) => {
    const asking = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' } };
    const desk = await crossOrigin(graphql, 'https://desk.example', asking);
    assert.deepEqual([desk.status, desk.origin, desk.credentials, desk.vary], [204, 'https://desk.example', null, 'Origin']);
    assert.deepEqual(desk.methods.split(', '), ['GET', 'POST']);
    for (const header of ['content-type', 'authorization', 'last-event-id', 'accept', 'x-request-id']) {
      assert.ok(desk.headers.split(', ').includes(header), header);
    }
    const sent = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query: VIEWER }) };
    const read = await crossOrigin(graphql, 'https://desk.example', sent);
    assert.deepEqual([read.status, read.origin, read.credentials, read.vary], [200, 'https://desk.example', null, 'Origin']);
    assert.ok(read.exposed.includes('x-request-id'));
    const stream = { method: 'GET', headers: { accept: 'text/event-stream' } };
    const due = `${graphql}?${new URLSearchParams({ query: 'subscription { workDue { operations } }' })}`;
    assert.deepEqual((await crossOrigin(due, 'https://desk.example', stream)).status, 200);
    for (const origin of ['https://evil.example', 'http://desk.example', 'https://desk.example.evil.example', 'null', 'http://localhost:5173']) {
      for (const options of [asking, sent, { method: 'GET', headers: {} }, stream]) {
        const answer = await crossOrigin(options === stream ? due : graphql, origin, options);
        const { status, vary, ...told } = answer;
        assert.deepEqual(told, { origin: null, credentials: null, methods: null, headers: null, exposed: null }, `${origin} ${status}`);
        assert.equal(vary, 'Origin');
        if (options === asking) assert.equal(status, 405);
        if (options === stream && !origin.includes('localhost')) assert.equal(status, 403);
      }
    }
    // What a page may send without asking first neither writes nor is read.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const simple = await crossOrigin(graphql, 'https://evil.example', { headers: { 'content-type': type }, body: JSON.stringify({ query: CLAIM, variables: { input: claimInput() } }) });
      assert.deepEqual([simple.status, simple.origin], [415, null]);
    }
    assert.equal((await fetch(url, { headers: { origin: 'https://desk.example' } })).headers.get('access-control-allow-origin'), null, 'the page is no API');
  }));

test('beyond loopback only the names that were given are served', () =>
  withServer(['--allow-open-access-beyond-loopback', '--allow-host', 'books.example', '--allow-host', '10.0.0.1'], async ({ url }) => {
    const { port } = new URL(url);
    const status = (host) =>
      new Promise((resolve, reject) => {
        const asked = request({ hostname: '127.0.0.1', port, path: '/graphql?query={viewer{did}}', headers: { host } });
        asked.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject).end();
      });
    for (const host of ['books.example', 'BOOKS.example:443', '10.0.0.1:4000', 'localhost']) assert.equal(await status(host), 200, host);
    for (const host of ['evil.example', '10.0.0.2', 'x.books.example']) assert.equal(await status(host), 421, host);
  }, { listen: '0.0.0.0:0' }));

test('every response has its request id, the sender\'s own where it is one', async () => {
  const id = async (sent, path = '/graphql?query={viewer{did}}') => {
    const response = await fetch(new URL(path, endpoint), sent === undefined ? {} : { headers: { 'x-request-id': sent } });
    await response.arrayBuffer();
    return response.headers.get('x-request-id');
  };
  for (const own of ['a', 'trace-1/2:{3}', 'x'.repeat(128)]) assert.equal(await id(own), own);
  const fresh = [];
  for (const none of [undefined, 'x'.repeat(129), 'a b', 'caf\u00e9']) fresh.push(await id(none));
  for (const path of ['/healthz', '/', '/nothing']) fresh.push(await id(undefined, path));
  for (const one of fresh) assert.match(one, UUID);
  assert.equal(new Set(fresh).size, fresh.length);
  const { headers } = await Events.open({ query: 'subscription { workDue { operations } }' }, { headers: { 'x-request-id': 'mine' } }).then((events) => {
    events.end();
    return events.response;
  });
  assert.equal(headers.get('x-request-id'), 'mine');
});

test('what is logged as JSON names the request and its operation, and never what was sent with it', () =>
  withServer(['--log-format', 'json', '--log', 'debug'], async (own) => {
    const { graphql } = own;
    const SECRET = 'SECRET7F3A';
    const input = claimInput({ leaseToken: `${SECRET}-token`, payloadHash: `${SECRET}-payload`, reissueIntent: { password: SECRET } });
    const headers = { 'x-request-id': 'request-one', authorization: `Bearer ${SECRET}` };
    const claimed = await post({ query: CLAIM, operationName: 'Claim', variables: { input } }, headers, graphql);
    assert.equal(claimed.body.data.claimOperation.outcome, 'CLAIMED');
    const { id } = claimed.body.data.claimOperation.operation;
    const mark = { query: 'mutation Mark ($input: MarkSendStartedInput!) { markSendStarted(input: $input) { outcome } }', variables: { input: { id, leaseToken: `${SECRET}-token`, marker: `${SECRET}-marker` } } };
    await (await Events.open(mark, { url: graphql, headers })).all();
    const pending = {
      query: 'mutation ($input: CreatePendingAuthInput!) { createPendingAuth(input: $input) { outcome } }',
      variables: { input: pendingAuth(SECRET) },
    };
    const socket = await Socket.open({ url: graphql.replace(/^http/, 'ws'), headers: { 'x-request-id': 'socket-one' } });
    const answers = [];
    for (const [n, asked] of [mark, pending, { query: `{ nope(x: "${SECRET}") }` }, { query: `{ operation(callerDid: "${SECRET}", operationId: 7) { id } }` }].entries()) {
      socket.send({ id: `op${n}`, type: 'subscribe', payload: asked });
      for (let message = await socket.next(); message.type === 'next'; message = await socket.next()) answers.push(message.payload.data);
    }
    assert.deepEqual(answers, [{ markSendStarted: { outcome: 'MARKED' } }, { createPendingAuth: { outcome: 'CREATED' } }]);
    socket.end();
    await get({ query: 'query Find($id: String!) { operation(callerDid: $id, operationId: $id) { id } }', variables: JSON.stringify({ id: SECRET }) }, headers, graphql);
    await post(`{"query": "${SECRET}`, headers, graphql);
    await post({ query: CLAIM, variables: { input: { ...input, target: `${SECRET}\u0000` } } }, headers, graphql);
    await own.stop();
    assert.ok(!own.log.includes(SECRET), own.log.split('\n').find((line) => line.includes(SECRET)));
    const lines = own.log.trim().split('\n').map((line) => JSON.parse(line));
    const answered = lines.find(({ span, fields }) => fields.message === 'answered' && span?.id === 'request-one');
    assert.deepEqual([answered.span.operation, answered.span.kind, answered.span.method, answered.span.path], ['Claim', 'mutation', 'POST', '/graphql']);
  }));
