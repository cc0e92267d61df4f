// What the door's tests share: where the server is, requests of any form, and a socket whose frames can be awaited.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';

const address = process.env.WRITEWATCH_URL;
assert.ok(address, 'WRITEWATCH_URL must name a running server, as in http://127.0.0.1:4000');
export const server = new URL(address).origin;
export const endpoint = `${server}/graphql`;
export const socketEndpoint = endpoint.replace(/^http/, 'ws');

export const RESPONSE_JSON = 'application/graphql-response+json';
export const JSON_TYPE = 'application/json';

// POSTs a body as it is; its answer with the JSON parsed.
export async function post(body, headers = {}) {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const response = await fetch(endpoint, { method: 'POST', headers: { 'content-type': JSON_TYPE, ...headers }, body: text });
  return read(response);
}

export async function get(parameters, headers = {}) {
  return read(await fetch(`${endpoint}?${new URLSearchParams(parameters)}`, { headers }));
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

// A socket that keeps every frame it gets and lets a test wait for the next.
export class Socket {
  static async open({ protocols = 'graphql-transport-ws', init = true, ...options } = {}) {
    const socket = new Socket(new WebSocket(socketEndpoint, protocols, options));
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
