// What the door's tests share: where the server is, requests of any form, and a socket whose frames can be awaited.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';

const address = process.env.WRITEWATCH_URL;
assert.ok(address, 'WRITEWATCH_URL must name a running server, as in http://127.0.0.1:4000');
export const server = new URL(address).origin;
export const endpoint = `${server}/graphql`;
export const socketEndpoint = endpoint.replace(/^http/, 'ws');

export const RESPONSE_JSON = 'application/graphql-response+json';
export const JSON_TYPE = 'application/json';

// POSTs a body as it is; its answer with the JSON parsed.
export async function post(body, headers = {}, url = endpoint) {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': JSON_TYPE, ...headers }, body: text });
  return read(response);
}

export async function get(parameters, headers = {}, url = endpoint) {
  return read(await fetch(`${url}?${new URLSearchParams(parameters)}`, { headers }));
}

// The parameters of a request as a URL has them.
export function inUrl({ query, variables, ...others }) {
  return { ...(query && { query }), ...(variables && { variables: JSON.stringify(variables) }), ...others };
}

async function read(response) {
  const text = await response.text();
  return { status: response.status, headers: response.headers, type: response.headers.get('content-type'), text, body: parsed(text) };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function assertRefused({ body, text }, code = 'BAD_INPUT') {
  assert.ok(body && Array.isArray(body.errors) && body.errors.length > 0, text);
  assert.ok(!('data' in body), text);
  for (const error of body.errors) assert.equal(error.extensions?.code, code, text);
  assert.doesNotMatch(text, /panicked|src\/|invalid type|expected (a|an) |ConstValue|Some\(|-->/, 'nothing of the inside');
}

export const CLAIM = `mutation Claim($input: ClaimOperationInput!) {
  claimOperation(input: $input) { outcome operation { id operationId target state } }
}`;

export function claimInput(fields = {}) {
  return {
    callerDid: 'did:example:door',
    operationId: randomUUID(),
    ownerDid: 'did:example:door-owner',
    connectorName: 'door',
    model: 'event',
    op: 'CREATE',
    accountKey: 'account',
    target: 'calendar',
    deterministicEventId: randomUUID(),
    payloadHash: 'hash',
    leaseToken: randomUUID(),
    leaseMs: 60_000,
    ...fields,
  };
}

// A cursor of the log as it is now: with it as `after`, a test need not know when its subscription has begun.
export async function here(url) {
  const { body } = await post({ query: '{ changes(last: 1) { nodes { cursor } } }' }, {}, url);
  if (body.data.changes.nodes.length > 0) return body.data.changes.nodes[0].cursor;
  await post({ query: CLAIM, variables: { input: claimInput() } }, {}, url);
  return here(url);
}

// A socket that keeps every frame it gets and lets a test wait for the next.
export class Socket {
  static async open({ protocols = 'graphql-transport-ws', init = true, url = socketEndpoint, ...options } = {}) {
    const socket = new Socket(new WebSocket(url, protocols, options));
    await socket.opened;
    if (init) {
      socket.send({ type: 'connection_init' });
      assert.deepEqual(await socket.next(), { type: 'connection_ack' });
    }
    return socket;
  }

  #waiting = [];
  #messages = [];

  constructor(ws) {
    this.ws = ws;
    this.opened = new Promise((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('error', reject);
    });
    this.closed = new Promise((resolve) => ws.once('close', (code, reason) => resolve({ code, reason: reason.toString() })));
    this.pinged = new Promise((resolve) => ws.once('ping', resolve));
    ws.on('message', (data) => {
      const message = JSON.parse(data.toString());
      const waiting = this.#waiting.shift();
      if (waiting) waiting(message);
      else this.#messages.push(message);
    });
  }

  send(message) {
    this.ws.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  subscribe(id, query, variables) {
    this.send({ id, type: 'subscribe', payload: { query, variables } });
  }

  next(ms = 10_000) {
    if (this.#messages.length > 0) return Promise.resolve(this.#messages.shift());
    return within(ms, 'a message', new Promise((resolve) => this.#waiting.push(resolve)), this.closed);
  }

  // Waits for the close the server gives.
  closing(ms = 5_000) {
    return within(ms, 'the close', this.closed);
  }

  end() {
    this.ws.terminate();
  }
}

// An event stream whose events can be awaited one by one. Those that are no stream have a `status` and a `body` alone.
export class Events {
  static async open(asked, { by = 'POST', headers = {}, url = endpoint } = {}) {
    const abort = new AbortController();
    const accepting = { accept: 'text/event-stream', ...headers };
    const response =
      by === 'GET'
        ? await fetch(`${url}?${new URLSearchParams(inUrl(asked))}`, { headers: accepting, signal: abort.signal })
        : await fetch(url, {
            method: 'POST',
            headers: { 'content-type': JSON_TYPE, ...accepting },
            body: typeof asked === 'string' ? asked : JSON.stringify(asked),
            signal: abort.signal,
          });
    return new Events(response, abort);
  }

  #text = '';
  #abort;
  #reader;

  constructor(response, abort) {
    this.response = response;
    this.status = response.status;
    this.type = response.headers.get('content-type');
    this.#abort = abort;
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  // The next event or comment; undefined at the end.
  next(ms = 10_000) {
    return within(ms, 'an event', this.#next());
  }

  async #next() {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return parsedEvent(block);
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += value;
    }
  }

  // Every event until the end.
  async all() {
    const events = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }

  // The next event that is no comment.
  data(ms = 10_000) {
    const data = async () => {
      let event = await this.#next();
      while (event?.comment !== undefined) event = await this.#next();
      return event;
    };
    return within(ms, 'an event with data', data());
  }

  end() {
    this.#abort.abort();
  }
}

function parsedEvent(block) {
  if (block.startsWith(':')) return { comment: block.slice(1) };
  const fields = Object.fromEntries(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
  return { ...fields, data: fields.data === '' ? '' : JSON.parse(fields.data) };
}

// A server of a test's own: `args` are its settings. It and its database end with `stop` or `kill`.
export async function launch(args = [], { database, listen = '127.0.0.1:0', environment = {} } = {}) {
  const binary = process.env.WRITEWATCH_BINARY;
  assert.ok(binary, 'WRITEWATCH_BINARY must name the server, as scripts/with-server.sh does');
  const folder = mkdtempSync(join(tmpdir(), 'writewatch-door.'));
  const at = database ?? `sqlite://${folder}/writewatch.db`;
  const child = spawn(binary, ['serve', '--database-url', at, '--listen', listen, ...args], { env: { ...process.env, ...environment } });
  const own = { log: '', url: '', pid: child.pid, database: at };
  child.stderr.on('data', (text) => (own.log += text));
  const exited = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })));
  own.url = await within(
    60_000,
    'line that says where it listens',
    new Promise((resolve) => {
      let said = '';
      child.stdout.on('data', (text) => {
        said += text;
        const url = /^writewatch listening on (.*)$/m.exec(said)?.[1];
        if (url) resolve(url);
      });
    }),
    exited.then(({ code }) => ({ code, reason: own.log })),
  );
  own.graphql = `${own.url}/graphql`;
  own.exited = exited;
  own.signal = (signal) => child.kill(signal);
  own.memoryKb = () => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]);
  own.stop = async () => {
    child.kill('SIGTERM');
    return within(30_000, 'end of the server', exited);
  };
  own.clear = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  return own;
}

// Waits for `awaited` until a deadline, or until `closed` says that nothing will come any more.
export async function within(ms, what, awaited, closed) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no ${what} within ${ms} ms`)), ms);
  });
  const gone = closed?.then(({ code, reason }) => Promise.reject(new Error(`closed instead: ${code} ${reason}`)));
  try {
    return await Promise.race([awaited, late, ...(gone ? [gone] : [])]);
  } finally {
    clearTimeout(timer);
  }
}
