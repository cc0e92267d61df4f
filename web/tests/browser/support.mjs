// What the browser tests share: a browser that may not leave the server, and requests that play the connector.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { chromium } from 'playwright-core';
import { api } from '../../scripts/api.mjs';

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

// One browser for the tests of a file; each page has a context of its own.
let browser;
// A page that finds an empty log reads its lists once more when it surely follows: that would hide what a test is to see.
let logged;
after(async () => {
  await (await browser)?.close();
});

// A page that remembers everything it must not do: a request to another origin, an error in the console, an exception.
export async function openPage(path, { prepare, origin = server, ...options } = {}) {
  browser ??= chromium.launch(LAUNCH);
  await (logged ??= claim(newConnector()));
  const context = await (await browser).newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  const wrongs = [];
  const own = (url) => ['blob:', 'data:'].some((kind) => url.startsWith(kind)) || new URL(url).origin.replace(/^ws/, 'http') === origin;
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
  await prepare?.(page);
  await page.goto(origin + path);
  return { page, wrongs, context };
}

export async function live(page) {
  await page.locator('.status[data-now="live"]').waitFor();
}

// Asks until the answer is the wanted one, or fails with the last one at the deadline.
export async function until(ask, wanted, what) {
  const deadline = Date.now() + DEADLINE_MS;
  let answer = await ask();
  while (!wanted(answer) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer = await ask();
  }
  assert.ok(wanted(answer), `${what}: ${JSON.stringify(answer)}`);
  return answer;
}

// GraphiQL takes a click on a tab before it is ready, and shows another one's document.
export async function openTab(page, name, document) {
  const shown = page.locator('.graphiql-query-editor').getByText(document).first();
  await until(
    async () => {
      if (!(await shown.isVisible())) await page.getByRole('tab', { name }).click({ timeout: 1_000 }).catch(() => undefined);
      return shown.isVisible();
    },
    Boolean,
    `the tab ${name}`,
  );
}

export const request = api(server);

const CLAIM = `mutation ($input: ClaimOperationInput!) {
  claimOperation(input: $input) { outcome operation { id operationId version } }
}`;

const FINALIZE = `mutation ($input: FinalizeOperationInput!) {
  finalizeOperation(input: $input) { outcome operation { state } watch { id generation } }
}`;

const RECORD = `mutation ($input: RecordOperationInput!) { recordOperation(input: $input) { outcome } }`;
const RELEASE = `mutation ($input: ReleaseLeaseInput!) { releaseLease(input: $input) { outcome } }`;

// A connector of this name only, so that a test sees its own rows whatever else the server holds.
export function newConnector() {
  return `calendar-${randomUUID().slice(0, 8)}`;
}

export function claimInput(connectorName, more = {}) {
  return {
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
    leaseToken: randomUUID(),
    leaseMs: 60_000,
    ...more,
  };
}

export async function claim(connectorName, more = {}) {
  const input = claimInput(connectorName, more);
  const { claimOperation } = await request(CLAIM, { input });
  assert.equal(claimOperation.outcome, 'CLAIMED');
  return { ...claimOperation.operation, leaseToken: input.leaseToken, documentId: input.documentId };
}

export async function finalize({ id, leaseToken, version, documentId }) {
  const input = { id, leaseToken, version, documentId, sourceId: `source-${id}`, winnerDigest: 'digest-1' };
  const { finalizeOperation } = await request(FINALIZE, { input });
  assert.equal(finalizeOperation.outcome, 'FINALIZED');
  return finalizeOperation;
}

// Records how an attempt ended and frees the lease, as a worker would.
export async function record({ id, leaseToken, version }, more) {
  const { recordOperation } = await request(RECORD, { input: { id, leaseToken, version, ...more } });
  assert.equal(recordOperation.outcome, 'RECORDED');
  await request(RELEASE, { input: { id, leaseToken } });
}

export async function failCheck({ watch: { id, generation } }) {
  const { claimWatchAttempt } = await request(
    'mutation ($input: ClaimWatchAttemptInput!) { claimWatchAttempt(input: $input) { claimedUntil } }',
    { input: { id, generation, claimMs: 60_000 } },
  );
  const input = { id, generation, claimedUntil: claimWatchAttempt.claimedUntil, fetchedDigest: 'other', maxAttempts: 1, dueAt: new Date().toISOString() };
  await request('mutation ($input: RecordVerificationInput!) { recordVerification(input: $input) { outcome } }', { input });
}

export function row(page, id) {
  return page.locator(`.row[data-id="${id}"]`);
}

export function rows(page) {
  return page.locator('.row[data-id]');
}

const axe = await readFile(new URL(import.meta.resolve('axe-core')), 'utf8');

// What axe finds against WCAG 2 A and AA, as lines that say where.
export async function violations(page) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }),
  );
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(' ')}`));
}
