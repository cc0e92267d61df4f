// Hostile HTTP below GraphQL: what is written to a connection, byte by byte, and the statuses that may come back. `closed`
// stands for a server that hangs up, `silent` for one that waits for the rest.
import { gzipSync } from 'node:zlib';
import { host } from './raw.mjs';

const VIEWER = '{"query":"{ viewer { did } }"}';
const head = (headers = [], target = '/graphql', method = 'POST') =>
  `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;
const post = (body, headers = ['content-type: application/json']) => {
  const bytes = Buffer.from(body);
  return [Buffer.concat([Buffer.from(head([...headers, `content-length: ${bytes.length}`])), bytes])];
};
const get = (target, headers = ['accept: application/graphql-response+json']) => [head(headers, target, 'GET')];
const chunked = (chunks) => [
  head(['content-type: application/json', 'transfer-encoding: chunked']),
  chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join(''),
  '0\r\n\r\n',
];
const REFUSED = [400];

export const requests = [
  // What is no GraphQL request
  { name: 'T03c: a batch of none', bytes: post('[]'), expect: REFUSED },
  { name: 'T03: a batch of 20,000', bytes: post(`[${Array(20_000).fill(VIEWER).join(',')}]`), expect: REFUSED },
  { name: 'T04: zero bytes', bytes: post(''), expect: REFUSED },
  { name: 'T04: half an object', bytes: post('{"query":"{ viewer'), expect: REFUSED },
  { name: 'T04: a string', bytes: post('"{ viewer { did } }"'), expect: REFUSED },
  { name: 'T04: a query that is an object', bytes: post('{"query":{}}'), expect: REFUSED },
  { name: 'T04: variables in a list', bytes: post('{"query":"{ viewer { did } }","variables":[]}'), expect: REFUSED },
  { name: 'T10: a byte that is no UTF-8', bytes: post(Buffer.from([...Buffer.from('{"query":"'), 0xff, ...Buffer.from('"}')])), expect: REFUSED },
  { name: 'T10: a lone surrogate', bytes: post('{"query":"\\ud800"}'), expect: REFUSED },
  { name: 'a byte order mark', bytes: post(`\ufeff${VIEWER}`), expect: REFUSED },
  { name: 'lists 500,000 deep', bytes: post(`{"query":"{a}","variables":{"x":${'['.repeat(500_000)}`), expect: REFUSED },
  { name: 'objects 150,000 deep', bytes: post(`{"query":"{a}","variables":${'{"a":'.repeat(150_000)}`), expect: REFUSED },
  { name: 'lists 400,000 long', bytes: post(`{"query":"{ viewer { did } }","variables":{"x":[${'[],'.repeat(300_000)}[]]}}`), expect: REFUSED },
  { name: 'fifty thousand other parameters', bytes: post(`{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":1,`).join('')}"query":"{ viewer { did } }"}`), expect: [200, 400] },
  { name: 'the same member twice', bytes: post(`{"query":"{ nope }","query":"{ viewer { did } }"}`), expect: [200, 400] },
  { name: 'the same member 60,000 times', bytes: post(`{${'"query":"{a}",'.repeat(60_000)}"query":"{ viewer { did } }"}`), expect: [200, 400] },
  { name: 'a number of 900,000 digits', bytes: post(`{"query":"{ viewer { did } }","variables":{"x":${'9'.repeat(900_000)}}}`), expect: [200, 400] },
  { name: 'a number beyond doubles', bytes: post('{"query":"{ viewer { did } }","variables":{"x":1e999}}'), expect: REFUSED },
  { name: 'an exponent of 900,000 digits', bytes: post(`{"query":"{ viewer { did } }","variables":{"x":1e${'9'.repeat(900_000)}}}`), expect: REFUSED },
  { name: 'extensions of 900 kB', bytes: post(`{"query":"{ viewer { did } }","extensions":{"x":"${'x'.repeat(900_000)}"}}`), expect: [200, 400] },
  { name: 'white space of a megabyte', bytes: post(' '.repeat(1024 * 1024)), expect: REFUSED },
  // Types and encodings
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16', 'application/graphql', 'a/b', ''].map(
    (type) => ({ name: `a body of type "${type}"`, bytes: post(VIEWER, [`content-type: ${type}`]), expect: [415] }),
  ),
  { name: 'no type', bytes: post(VIEWER, []), expect: [415] },
  { name: 'a type of 30,000 parameters', bytes: post(VIEWER, [`content-type: application/json${';a=b'.repeat(10_000)}`]), expect: [200, 400, 415] },
  { name: 'a bomb of gzip', bytes: post(gzipSync(Buffer.alloc(64 * 1024 * 1024)), ['content-type: application/json', 'content-encoding: gzip']), expect: [415] },
  { name: 'an Accept of 5,000 types', bytes: post(VIEWER, ['content-type: application/json', `accept: ${'a/b;q=0.1,'.repeat(5_000)}*/*`]), expect: [200] },
  { name: 'an Accept of nonsense', bytes: post(VIEWER, ['content-type: application/json', 'accept: ;;q=NaN,/,q=inf;;,']), expect: [406] },
  { name: 'T01d: an Accept for XML', bytes: post(VIEWER, ['content-type: application/json', 'accept: application/xml']), expect: [406] },
  // Sizes and framing
  { name: 'a body a byte too long', bytes: post(`${VIEWER}${' '.repeat(1024 * 1024)}`), expect: [413] },
  { name: 'a body of 8 MiB', bytes: post(' '.repeat(8 * 1024 * 1024)), expect: [413] },
  { name: 'a body of 20 MiB', bytes: post(' '.repeat(20 * 1024 * 1024)), expect: [413, 'closed'] },
  { name: 'a body said to be 2^63 long', bytes: [head(['content-type: application/json', 'content-length: 9223372036854775807']), VIEWER], expect: ['silent', 400, 413, 'closed'] },
  { name: 'a body of less than nothing', bytes: [head(['content-type: application/json', 'content-length: -1']), VIEWER], expect: [400, 'closed'] },
  { name: 'two lengths', bytes: [head(['content-type: application/json', 'content-length: 30', 'content-length: 5']), VIEWER], expect: [400, 'closed'] },
  { name: 'a length and chunks', bytes: [head(['content-type: application/json', 'content-length: 5', 'transfer-encoding: chunked']), '0\r\n\r\n'], expect: [400, 'closed'] },
  { name: 'chunks in chunks', bytes: [head(['content-type: application/json', 'transfer-encoding: chunked, chunked']), '0\r\n\r\n'], expect: [400, 415, 'closed'] },
  { name: 'twenty thousand chunks of a byte', bytes: chunked(Array(20_000).fill(' ').concat(VIEWER)), expect: [200], worth: 20 },
  { name: 'chunks with 30,000 letters of extension', bytes: [head(['content-type: application/json', 'transfer-encoding: chunked']), `1;${'x'.repeat(30_000)}\r\n \r\n`, '0\r\n\r\n'], expect: [400, 413, 'closed'] },
  { name: 'a chunk that says it is endless', bytes: [head(['content-type: application/json', 'transfer-encoding: chunked']), 'ffffffffffffffffff\r\n'], expect: [400, 'closed'] },
  { name: 'a body that ends early', bytes: post(VIEWER).map((bytes) => bytes.subarray(0, bytes.length - 5)), half: true, expect: [400, 'closed'] },
  // Headers
  { name: 'three hundred headers', bytes: post(VIEWER, ['content-type: application/json', ...Array(300).fill('x-a: b')]), expect: [400, 431, 'closed'] },
  { name: 'twenty thousand headers', bytes: post(VIEWER, ['content-type: application/json', ...Array(20_000).fill('x-a: b')]), expect: [400, 431, 'closed'] },
  { name: 'a header of 60,000 bytes', bytes: post(VIEWER, ['content-type: application/json', `x-a: ${'b'.repeat(60_000)}`]), expect: [200, 431] },
  { name: 'a header of a megabyte', bytes: post(VIEWER, ['content-type: application/json', `x-a: ${'b'.repeat(1024 * 1024)}`]), expect: [431, 'closed'] },
  { name: 'a cookie of 60,000 bytes', bytes: post(VIEWER, ['content-type: application/json', `cookie: ${'a=b; '.repeat(12_000)}`]), expect: [200, 431] },
  { name: 'a header without a colon', bytes: post(VIEWER, ['content-type: application/json', 'nonsense']), expect: [400, 'closed'] },
  { name: 'a header that folds', bytes: post(VIEWER, ['content-type: application/json', 'x-a: b\r\n c']), expect: [200, 400, 'closed'] },
  { name: 'a NUL in a header', bytes: post(VIEWER, ['content-type: application/json', 'x-a: b\0c']), expect: [400, 'closed'] },
  { name: 'two hosts', bytes: [`POST /graphql HTTP/1.1\r\nhost: ${host}\r\nhost: evil.example\r\ncontent-type: application/json\r\ncontent-length: ${VIEWER.length}\r\n\r\n${VIEWER}`], expect: [200, 400, 421, 'closed'] },
  { name: 'no host', bytes: [`POST /graphql HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: ${VIEWER.length}\r\n\r\n${VIEWER}`], expect: [400, 421] },
  { name: 'somebody else\'s host', bytes: [`GET /graphql?query={viewer{did}} HTTP/1.1\r\nhost: evil.example\r\n\r\n`], expect: [421] },
  { name: 'a hundred-continue that nobody follows', bytes: [head(['content-type: application/json', 'content-length: 30', 'expect: 100-continue'])], expect: [100] },
  // Methods and targets
  { name: 'a method of 60,000 letters', bytes: [head([], '/graphql', 'A'.repeat(60_000))], expect: [400, 405, 431, 'closed'] },
  { name: 'TRACE', bytes: [head([], '/graphql', 'TRACE')], expect: [405] },
  { name: 'CONNECT', bytes: [head([], 'evil.example:443', 'CONNECT')], expect: [400, 404, 405, 'closed'] },
  { name: 'a URL for a proxy', bytes: get('http://evil.example/graphql?query={viewer{did}}'), expect: [200, 400, 421] },
  { name: 'a way out of the page\'s folder', bytes: get('/../../../../etc/passwd'), expect: [400, 404], not: 'root:' },
  { name: 'a way out, in code', bytes: get('/assets/..%2f..%2f..%2fCargo.toml'), expect: [400, 404], not: '[package]' },
  { name: 'a name with a dot in front', bytes: get('/.git/config'), expect: [404] },
  { name: 'a query of 60,000 pairs', bytes: get(`/graphql?${'a&'.repeat(25_000)}query={viewer{did}}`), expect: [200, 400, 414, 431, 'closed'] },
  { name: 'a query string of 300,000 bytes', bytes: get(`/graphql?query=${'x'.repeat(300_000)}`), expect: [400, 414, 431, 'closed'] },
  { name: 'a per cent sign that means nothing', bytes: get('/graphql?query=%zz%'), expect: REFUSED },
  { name: 'per cents of what is no UTF-8', bytes: get('/graphql?query=%ff%fe%00'), expect: REFUSED },
  { name: 'the same parameter 5,000 times', bytes: get(`/graphql?${'query={a}&'.repeat(5_000)}query={viewer{did}}`), expect: [200, 400] },
  { name: 'variables of 40,000 bytes in a URL', bytes: get(`/graphql?query={viewer{did}}&variables={%22x%22:[${'[],'.repeat(13_000)}[]]}`), expect: [200, 400, 414, 431] },
  { name: 'a mutation in a URL', bytes: get('/graphql?query=mutation{resumeOfflineDeferred(input:{}){count}}'), expect: [400, 405] },
  // What is no HTTP/1.1
  { name: 'HTTP/0.9', bytes: ['GET /graphql\r\n\r\n'], expect: [400, 'closed', 'silent'] },
  { name: 'HTTP/2 as if it were known', bytes: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], expect: [400, 505, 'closed'], not: '\0\0' },
  { name: 'the beginning of TLS', bytes: [Buffer.from('16030100a5010000a10303', 'hex'), Buffer.alloc(200, 7)], expect: [400, 'closed', 'silent'] },
  { name: 'a megabyte of noise', bytes: [Buffer.from(Array.from({ length: 1024 * 1024 }, (_, n) => (n * 2_654_435_761) >>> 24))], expect: [400, 'closed'] },
  { name: 'a megabyte of empty lines', bytes: ['\r\n'.repeat(512 * 1024)], expect: [400, 431, 'closed', 'silent'] },
  { name: 'lines that end in LF alone', bytes: [`GET /healthz HTTP/1.1\nhost: ${host}\n\n`], expect: [200, 400, 'closed'] },
  { name: 'two requests in one, the second hidden', bytes: post(`${VIEWER}GET /healthz HTTP/1.1\r\n\r\n`), expect: REFUSED },
  { name: 'a hundred requests at once', bytes: Array(100).fill(post(VIEWER)[0]), count: 100, expect: [200], worth: 100 },
  // Upgrades
  { name: 'an upgrade to HTTP/2', bytes: get('/graphql', ['upgrade: h2c', 'connection: upgrade, http2-settings', 'http2-settings: AAMAAABkAAQAAP__']), expect: [400, 426] },
  { name: 'an upgrade without a key', bytes: get('/graphql', ['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 13']), expect: [400] },
  { name: 'an upgrade to version 12', bytes: get('/graphql', ['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 12', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']), expect: [400, 426] },
  { name: 'an upgrade by POST', bytes: [head(['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', 'content-length: 0'])], expect: [400, 405, 415] },
];
