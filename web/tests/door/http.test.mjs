// GraphQL over HTTP where the audits do not look: negotiation, sizes, hostile documents, and what an answer looks like.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { getIntrospectionQuery } from 'graphql';
import {
  CLAIM,
  RESPONSE_JSON,
  assertRefused,
  claimInput,
  endpoint,
  get,
  post,
  server,
} from './support.mjs';

const VIEWER = '{ viewer { roles did } }';
const LOOK = 'query ($id: String!) { operation(callerDid: "did:example:door", operationId: $id) { target } }';

async function isStored(operationId) {
  const { body } = await post({ query: LOOK, variables: { id: operationId } });
  return body.data.operation !== null;
}

test('other types, encodings, methods and sizes have their status', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16']) {
    const answer = await post({ query: CLAIM, variables: { input: claimInput() } }, { 'content-type': type });
    assert.equal(answer.status, 415);
    assertRefused(answer);
  }
  assert.equal((await post({ query: VIEWER }, { 'content-encoding': 'gzip' })).status, 415);
  for (const method of ['PUT', 'DELETE', 'HEAD']) {
    const { status, headers } = await fetch(endpoint, { method });
    assert.deepEqual([status, headers.get('allow'), headers.get('cache-control')], [405, 'GET, POST', 'no-store'], method);
    assert.match(headers.get('content-type'), /^application\/json/, method);
  }
  for (const bytes of [1024 * 1024, 8 * 1024 * 1024]) {
    const large = await post({ query: VIEWER, variables: { x: 'x'.repeat(bytes) } });
    assert.equal(large.status, 413);
    assertRefused(large);
  }
  const long = await post({ query: `{ viewer { did } } ${' '.repeat(64 * 1024)}` }, { accept: RESPONSE_JSON });
  assert.equal(long.status, 400);
});

test('an upgrade to anything else is not taken, and what is no handshake is refused like any request', async () => {
  const { hostname, port } = new URL(endpoint);
  const ask = (headers, path = '/graphql') =>
    new Promise((resolve, reject) => {
      const asked = request({ hostname, port, path, headers: { connection: 'upgrade', ...headers } }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ response, text }));
      });
      asked.on('error', reject).end();
    });
  const offered = await ask({ upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings' }, `/graphql?query=${encodeURIComponent(VIEWER)}`);
  assert.equal(offered.response.statusCode, 200, 'as clients of HTTP/2 offer it with any request');
  assert.ok(JSON.parse(offered.text).data.viewer.roles);
  for (const headers of [{ upgrade: 'h2c' }, { upgrade: 'websocket' }, { upgrade: 'websocket', 'sec-websocket-version': '8', 'sec-websocket-key': 'x' }]) {
    const { response, text } = await ask(headers);
    assert.ok(response.statusCode >= 400 && response.statusCode < 500, String(response.statusCode));
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(JSON.parse(text).errors[0].extensions.code, 'BAD_INPUT', text);
  }
});

test('GET runs the named query and no mutation', async () => {
  const query = `query A { viewer { did } } query B($id: ID!) { b: node(id: $id) { id } viewer { roles } }`;
  const named = await get({ query, operationName: 'A' });
  assert.deepEqual(Object.keys(named.body.data), ['viewer']);
  const unnamed = await get({ query }, { accept: RESPONSE_JSON });
  assert.equal(unnamed.status, 400);
  const input = claimInput();
  const mutation = await get({ query: CLAIM, variables: JSON.stringify({ input }) });
  assert.deepEqual([mutation.status, mutation.headers.get('allow')], [405, 'POST']);
  assertRefused(mutation);
  assert.equal(await isStored(input.operationId), false);
  assert.equal((await get({ query: 'subscription { changes { cursor } }' })).status, 400);
  assert.equal((await get({ query: VIEWER, variables: 'no' })).status, 400);
});

test('hostile documents are refused quickly, and nothing of them runs', async () => {
  const spreads = Array.from({ length: 12 }, (_, n) => `fragment F${n} on Query { ${`...F${n + 1} `.repeat(8)} }`);
  const input = claimInput();
  const claims = Array.from({ length: 5_000 }, (_, n) => `c${n}:claimOperation(input:$input){outcome}`);
  const deep = (open, close) => `{ operation(callerDid: ${open.repeat(1_600)}${close.repeat(1_600)}, operationId: "") { id } }`;
  for (const [query, variables] of [
    [deep('[', ']')],
    [deep('{a:', '}')],
    [`{${'viewer{'.repeat(5_000)}`],
    [`{ ...F0 } ${spreads.join(' ')} fragment F12 on Query { viewer { did } }`],
    [`{ ...A } fragment A on Query { ...B } fragment B on Query { ...A ...A }`],
    [`mutation ($input: ClaimOperationInput!) { ${claims.slice(0, 400).join(' ')} }`, { input }],
    [`mutation ($input: ClaimOperationInput!) { ${claims.join(' ')} }`, { input }],
    [`{ viewer { did ${'@include(if: true) '.repeat(1_000)} } }`],
    [`{ operation(callerDid: """ " ${'['.repeat(2_000)}, operationId: "") { id } }`],
    [`query ($x: [Nope] = [1]) { viewer { did } }`],
  ]) {
    const started = performance.now();
    const answer = await post({ query, variables }, { accept: RESPONSE_JSON });
    assert.equal(answer.status, 400, `${query.slice(0, 60)}: ${answer.text}`);
    assertRefused(answer);
    assert.ok(performance.now() - started < 1_000, query.slice(0, 60));
  }
  assert.equal(await isStored(input.operationId), false);
});

test('introspection as GraphiQL asks it passes all limits', async () => {
  const options = { descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true };
  const { status, body } = await post({ query: getIntrospectionQuery(options) }, { accept: RESPONSE_JSON });
  assert.equal(status, 200);
  assert.equal(body.errors, undefined);
  assert.ok(body.data.__schema.types.length > 10);
});

test('variables are checked before anything runs', async () => {
  for (const broken of [{ op: 'NOPE' }, { leaseMs: 2 ** 31 }, { leaseMs: 1.5 }, { target: null }, { model: 7 }, { nope: 1 }]) {
    const input = claimInput(broken);
    const answer = await post({ query: CLAIM, variables: { input } }, { accept: RESPONSE_JSON });
    assert.equal(answer.status, 400, answer.text);
    assertRefused(answer);
    assert.match(answer.body.errors[0].message, /^Variable "\$input" /);
    assert.equal(await isStored(input.operationId), false);
  }
  const { target: _, ...without } = claimInput();
  assertRefused(await post({ query: CLAIM, variables: { input: without } }));
});

test('a variable that is left out is left out, inside an input object too', async () => {
  const input = claimInput();
  const parts = Object.entries({ ...input, sourceId: undefined }).filter(([key]) => key !== 'op' && key !== 'leaseMs');
  const definitions = parts.map(([key]) => `$${key}: String${key === 'sourceId' ? '' : '!'}`).join(' ');
  const literal = parts.map(([key]) => `${key}: $${key}`).join(' ');
  const query = `mutation (${definitions}) { claimOperation(input: {op: CREATE leaseMs: 60000 ${literal}}) { outcome operation { sourceId } } }`;
  const { op: _op, leaseMs: _ms, ...variables } = input;
  const { body, text } = await post({ query, variables });
  assert.equal(body.data?.claimOperation.outcome, 'CLAIMED', text);
});

test('fields come in the order asked, fragments and aliases included', async () => {
  const input = claimInput();
  const query = `mutation ($input: ClaimOperationInput!) {
    claimOperation(input: $input) { operation { state ...F target b: target } outcome }
  } fragment F on Operation { operationId id }`;
  const { body } = await post({ query, variables: { input } });
  assert.deepEqual(Object.keys(body.data.claimOperation), ['operation', 'outcome']);
  assert.deepEqual(Object.keys(body.data.claimOperation.operation), ['state', 'operationId', 'id', 'target', 'b']);
  const node = `query ($id: ID!) { viewer { roles } node(id: $id) {
    ... on Watch { status id } ... on Operation { target state id __typename } } }`;
  const found = await post({ query: node, variables: { id: body.data.claimOperation.operation.id } });
  assert.deepEqual(Object.keys(found.body.data), ['viewer', 'node']);
  assert.deepEqual(Object.keys(found.body.data.node), ['target', 'state', 'id', '__typename']);
});

test('at most ten errors are told', async () => {
  const query = `{ viewer { ${Array.from({ length: 30 }, (_, n) => `nope${n}`).join(' ')} } }`;
  assert.equal((await post({ query })).body.errors.length, 10);
});

test('a page elsewhere cannot reach the server under its own name', async () => {
  const status = await new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server);
    const asked = request({ hostname, port, path: '/graphql?query={viewer{did}}', headers: { host: 'evil.example' } });
    asked.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject).end();
  });
  assert.equal(status, 421);
});

test('health is told in plain words', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const response = await fetch(server + path);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type'), /^text\/plain/);
  }
});

test('the root is the page, whatever a client says that it accepts', async () => {
  for (const accept of ['*/*', 'text/html', 'application/json']) {
    const page = await fetch(`${server}/`, { headers: { accept } });
    assert.equal(page.status, 200);
    assert.match(await page.text(), /<script/, accept);
  }
  const nothing = await fetch(`${server}/nothing`, { headers: { accept: '*/*' } });
  assert.equal(nothing.status, 404);
});

// Nothing of another origin, no script or style inside a page, no frame around it. TLS, and so HSTS, ends before us.
test('every response has the headers that keep a browser safe', async () => {
  const strict = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  const editor = strict.replace("default-src 'self';", "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:;");
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await fetch(`${server}/`)).text())[1];
  const page = { accept: 'text/html' };
  for (const [path, options, status, policy] of [
    ['/', { headers: page }, 200, strict],
    ['/watches', { headers: page }, 200, strict],
    ['/playground', { headers: page }, 200, editor],
    [script, {}, 200, strict],
    ['/nothing', {}, 404, strict],
    ['/graphql?query={viewer{did}}', {}, 200, null],
    ['/graphql', { method: 'PUT' }, 405, null],
    ['/graphql?query={nope}', { headers: { accept: 'text/event-stream' } }, 200, null],
    ['/graphql?query={viewer{did}}', { headers: { accept: 'text/html' } }, 406, null],
    ['/healthz', {}, 200, null],
  ]) {
    const response = await fetch(server + path, options);
    const of = (name) => response.headers.get(name);
    await response.body?.cancel();
    assert.equal(response.status, status, path);
    for (const [name, value] of [
      ['content-security-policy', policy],
      ['x-frame-options', policy && 'DENY'],
      ['x-content-type-options', 'nosniff'],
      ['referrer-policy', 'no-referrer'],
      ['cross-origin-resource-policy', 'same-origin'],
      ['access-control-allow-origin', null],
      ['set-cookie', null],
      ['server', null],
    ]) {
      assert.equal(of(name), value, `${name} of ${path}`);
    }
    if (path.startsWith('/graphql')) assert.equal(of('cache-control'), 'no-store', path);
  }
});

test('a page has no script and no style inside', async () => {
  const text = await (await fetch(`${server}/`)).text();
  assert.deepEqual([...text.matchAll(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:/gi)].map(String), []);
});
