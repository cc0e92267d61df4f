// What the browser tests share: a browser that may not leave the server, and requests that play the connector.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';

const address = process.env.WRITEWATCH_URL;
assert.ok(address, 'WRITEWATCH_URL must name a running server, as in http://127.0.0.1:4000');
export const server = new URL(address).origin;

export const DEADLINE_MS = 20_000;

const LAUNCH = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

export async function withBrowser(test) {
  const browser = await chromium.launch(LAUNCH);
  try {
    await test(browser);
  } finally {
    await browser.close();
  }
}

// A page that remembers everything it must not do: a request to another origin, an error in the console, an exception.
// `options.origin` is its server, when that is a test's own.
export async function openPage(browser, path, { origin = server, ...options } = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  const wrongs = [];
  const own = (url) => ['blob:', 'data:'].some((kind) => url.startsWith(kind)) || originOf(url) === origin;
  page.on('request', (request) => {
    if (!own(request.url())) wrongs.push(`left the origin: ${request.url()}`);
  });
  page.on('websocket', (socket) => {
    if (!own(socket.url())) wrongs.push(`left the origin: ${socket.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') wrongs.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrongs.push(`exception: ${error.message}`));
  await options.prepare?.(page);
  await page.goto(origin + path);
  return { page, wrongs };
}

function originOf(url) {
  return new URL(url).origin.replace(/^ws/, 'http');
}

export async function live(page) {
  await page.locator('.status[data-now="live"]').waitFor();
}

export async function request(query, variables) {
  const response = await fetch(`${server}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined);
  return data;
}

const CLAIM = `mutation ($input: ClaimOperationInput!) {
  claimOperation(input: $input) { outcome operation { id operationId version } }
}`;

const FINALIZE = `mutation ($input: FinalizeOperationInput!) {
  finalizeOperation(input: $input) { outcome operation { state } watch { id } }
}`;

// A connector of this name only, so that a test sees its own rows whatever else the server holds.
export function newConnector() {
  return `calendar-${randomUUID().slice(0, 8)}`;
}

export async function claim(connectorName, leaseMs = 60_000) {
  const leaseToken = randomUUID();
  const input = {
    callerDid: 'did:example:worker',
    operationId: randomUUID(),
    ownerDid: 'did:example:alice',
    connectorName,
    model: 'event',
    op: 'CREATE',
    accountKey: 'alice@example.com',
    target: 'calendars/primary',
    deterministicEventId: randomUUID(),
    payloadHash: 'sha256-of-the-payload',
    documentId: `document-${randomUUID()}`,
    leaseToken,
    leaseMs,
  };
  const { claimOperation } = await request(CLAIM, { input });
  assert.equal(claimOperation.outcome, 'CLAIMED');
  return { ...claimOperation.operation, leaseToken, documentId: input.documentId };
}

export async function finalize({ id, leaseToken, version, documentId }) {
  const input = { id, leaseToken, version, documentId, sourceId: `source-${id}`, winnerDigest: 'digest-1' };
  const { finalizeOperation } = await request(FINALIZE, { input });
  assert.equal(finalizeOperation.outcome, 'FINALIZED');
  return finalizeOperation;
}

export function row(page, id) {
  return page.locator(`tr[data-id="${id}"]`);
}

const axe = await readFile(new URL(import.meta.resolve('axe-core')), 'utf8');

// What axe finds against WCAG 2 A and AA, as lines that say where.
export async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }),
  );
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(' ')}`));
}
