// The page on a server that has everybody sign in, with tokens as people make them: who is let in, what is offered to whom,
// and what ends it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { randomIdentity, stringifyToken } from '@kokuin/token';
import { api } from '../../scripts/api.mjs';
import { CLAIM, launch } from '../door/support.mjs';
import { claimInput, live, newConnector, openPage, openTab, row, rows, until, violations } from './support.mjs';

const AUDIENCE = 'https://books.example';
const ACTS = ['Drive now…', 'Defer…', 'Reissue…', 'Mark dead…'];
const GRANT = 'mutation ($input: AccessGrantInput!) { grantAccess(input: $input) { grant { ownerDid } } }';
const RELEASE = 'mutation ($input: ReleaseLeaseInput!) { releaseLease(input: $input) { outcome } }';
const NOT_ACCEPTED = 'The server does not accept this token';
const ENDED = 'Your token is not accepted any more';

const operator = randomIdentity();
const folder = mkdtempSync(join(tmpdir(), 'writewatch-sign-in.'));
const accessFile = join(folder, 'access.json');
let own;

// What the access file says from now on. The server reads it within two seconds.
function access({ operators = [operator.id], revoked = [] } = {}) {
  writeFileSync(accessFile, JSON.stringify({ operators, revoked }));
}

before(async () => {
  access();
  own = await launch(['--auth', 'did', '--audience', AUDIENCE, '--access-file', accessFile, '--log', 'error']);
});

after(() => {
  own?.clear();
  rmSync(folder, { recursive: true, force: true });
});

async function tokenOf(identity, { inS = 600, aud = AUDIENCE } = {}) {
  return stringifyToken(await identity.signToken({ aud, exp: Math.floor(Date.now() / 1000) + inS }));
}

async function askAs(identity) {
  return api(own.url, { authorization: `Bearer ${await tokenOf(identity)}` });
}

// A claim whose lease is free again, so that no act has to wait for it; for themselves unless another owner is named.
async function claimAs(identity, connectorName, ownerDid = identity.id) {
  const ask = await askAs(identity);
  const input = claimInput(connectorName, { callerDid: identity.id, ownerDid });
  const { outcome, operation } = (await ask(CLAIM, { input })).claimOperation;
  assert.equal(outcome, 'CLAIMED');
  await ask(RELEASE, { input: { id: operation.id, leaseToken: input.leaseToken } });
  return operation;
}

// The browser itself tells of each answer with this status.
const expected = (wrongs) => wrongs.filter((wrong) => !wrong.includes('401'));

async function open(path, options) {
  const opened = await openPage(path, { origin: own.url, ...options });
  await opened.page.getByLabel('Token').waitFor();
  return opened;
}

async function signIn(page, token) {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  // The pointer is where the button was, which may be in a list then, and would hold it.
  await page.mouse.move(5, 5);
}

async function signInAs(page, identity) {
  await signIn(page, await tokenOf(identity));
  await live(page);
}

async function assertOffered(page, offered) {
  for (const name of ACTS) {
    const disabled = await page.getByRole('button', { name }).getAttribute('aria-disabled');
    assert.equal(disabled, String(!offered.includes(name)), name);
  }
}

test('a token of the server’s own making: asked for, refused when it is none, and then the list is live', async () => {
  const made = spawnSync(process.env.WRITEWATCH_BINARY, ['token', '--key-file', join(folder, 'key.json'), '--audience', AUDIENCE], { encoding: 'utf8' });
  const token = made.stdout.trim();
  const ask = api(own.url, { authorization: `Bearer ${token}` });
  const { did } = (await ask('{ viewer { did } }')).viewer;
  const connector = newConnector();
  const claimed = async () =>
    (await ask(CLAIM, { input: claimInput(connector, { callerDid: did, ownerDid: did }) })).claimOperation.operation;
  const first = await claimed();

  const { page, wrongs } = await open(`/operations?connector=${connector}`);
  assert.equal(await page.getByRole('alert').count(), 0);
  const another = randomIdentity();
  for (const bad of ['nonsense', `${token}x`, await tokenOf(another, { aud: 'https://other.example' }), await tokenOf(another, { inS: -70 })]) {
    await signIn(page, bad);
    await page.getByRole('alert').getByText(NOT_ACCEPTED).waitFor();
    assert.equal(await page.getByLabel('Token').inputValue(), '');
  }
  assert.equal(await rows(page).count(), 0);
  await signIn(page, token);
  await live(page);
  await row(page, first.id).waitFor();
  const second = await claimed();
  await row(page, second.id).waitFor();
  assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]), [0, 0, ''], 'nothing is stored');
  assert.deepEqual(expected(wrongs), []);
});

test('a plain DID sees its own alone, and what another drives for it is not offered, and says why', async () => {
  const [owner, worker, stranger] = [randomIdentity(), randomIdentity(), randomIdentity()];
  const connector = newConnector();
  await (await askAs(owner))(GRANT, { input: { ownerDid: owner.id, callerDid: worker.id } });
  const driven = await claimAs(worker, connector, owner.id);
  const mine = await claimAs(owner, connector);
  const foreign = await claimAs(stranger, connector);

  const { page, wrongs } = await open(`/operations?connector=${connector}&open=${driven.id}`);
  await signInAs(page, owner);
  await row(page, mine.id).waitFor();
  await page.getByText('Only its caller, a service or an operator may do this. You are none of them.').waitFor();
  await assertOffered(page, []);
  await page.getByRole('button', { name: 'Mark dead…' }).click({ force: true });
  assert.equal(await page.getByRole('dialog').count(), 0);

  await row(page, mine.id).locator('.opener').click();
  await page.getByRole('complementary').getByText(mine.operationId, { exact: true }).waitFor();
  await assertOffered(page, ['Defer…', 'Mark dead…']);

  await page.mouse.move(5, 5);
  await page.getByRole('complementary').getByRole('heading').first().focus();
  await claimAs(stranger, connector);
  const later = await claimAs(owner, connector);
  await row(page, later.id).waitFor();
  assert.equal(await rows(page).count(), 3);
  await page.evaluate((id) => history.pushState(null, '', `/operations?open=${id}`), foreign.id);
  await page.getByText('There is nothing with this id, or it is not yours to see.').waitFor();
  assert.deepEqual(expected(wrongs), []);
});

test('an operator is offered what the state allows, and marks somebody’s write dead with a note', async () => {
  const owner = randomIdentity();
  const connector = newConnector();
  const operation = await claimAs(owner, connector);
  const { page, wrongs } = await open(`/operations?connector=${connector}&open=${operation.id}`);
  await signInAs(page, operator);
  await page.getByRole('complementary').getByText(operation.operationId, { exact: true }).waitFor();
  await assertOffered(page, ['Defer…', 'Mark dead…']);
  await page.getByRole('button', { name: 'Mark dead…' }).click();
  await page.getByLabel('Why?').fill('the account is closed');
  await page.getByRole('dialog').getByRole('button', { name: 'Mark dead' }).click();
  await page.getByText('It is dead: it will not be sent.').waitFor();
  await page.locator('.timeline blockquote', { hasText: 'the account is closed' }).waitFor();
  await row(page, operation.id).getByText('dead').waitFor();

  const query = 'query ($id: ID!) { node(id: $id) { ... on Operation { state lease { live } changes { nodes { toState facts } } } } }';
  const { state, lease, changes } = (await (await askAs(owner))(query, { id: operation.id })).node;
  assert.deepEqual([state, lease], ['DEAD', null]);
  assert.ok(changes.nodes.some(({ toState, facts }) => toState === 'DEAD' && JSON.stringify(facts).includes('the account is closed')));
  assert.deepEqual(expected(wrongs), []);
});

// Signs in with `token`, has it `end`, and comes again with one that is good: nothing that happened meanwhile is missed.
async function endedAndAgain(identity, token, end, beforeAgain) {
  const connector = newConnector();
  const first = await claimAs(identity, connector);
  const { page, wrongs } = await open(`/operations?connector=${connector}`);
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(socket));
  await signIn(page, await token());
  await live(page);
  await row(page, first.id).waitFor();
  await end();
  await page.getByRole('alert').getByText(ENDED).waitFor();
  assert.equal(await rows(page).count(), 0, 'what was shown is gone');
  await until(() => sockets.map((socket) => socket.isClosed()), (closed) => closed.length === 1 && closed[0], 'the socket is closed');
  await beforeAgain?.(page);
  const missed = await claimAs(identity, connector);
  await signInAs(page, identity);
  await row(page, missed.id).waitFor();
  const afterwards = await claimAs(identity, connector);
  await row(page, afterwards.id).waitFor();
  assert.equal(await rows(page).count(), 3);
  assert.deepEqual(expected(wrongs), []);
}

test('a token that expires ends the session; with another one nothing is missed', async () => {
  const identity = randomIdentity();
  await endedAndAgain(identity, () => tokenOf(identity, { inS: 8 }), () => undefined);
});

test('a DID that is revoked is out, and stays out until it is taken back', async () => {
  const identity = randomIdentity();
  const token = await tokenOf(identity);
  const back = async (page) => {
    await signIn(page, token);
    await page.getByRole('alert').getByText(NOT_ACCEPTED).waitFor();
    access();
    const mayAgain = async () => (await fetch(`${own.url}/graphql?query={viewer{did}}`, { headers: { authorization: `Bearer ${token}` } })).status;
    await until(mayAgain, (status) => status === 200, 'it may sign in again');
  };
  await endedAndAgain(identity, () => token, () => access({ revoked: [identity.id] }), back);
});

test('somebody whose roles change goes on with the new ones, and need not sign in again', async () => {
  const [owner, changing] = [randomIdentity(), randomIdentity()];
  const connector = newConnector();
  const operation = await claimAs(owner, connector);
  const mine = await claimAs(changing, connector);
  const { page, wrongs } = await open(`/operations?connector=${connector}`);
  await signInAs(page, changing);
  await row(page, mine.id).waitFor();
  assert.equal(await row(page, operation.id).count(), 0);
  access({ operators: [operator.id, changing.id] });
  await row(page, operation.id).waitFor();
  await live(page);
  access();
  await row(page, operation.id).waitFor({ state: 'detached' });
  await live(page);
  const later = await claimAs(changing, connector);
  await row(page, later.id).waitFor();
  assert.equal(await page.getByLabel('Token').count(), 0);
  assert.deepEqual(expected(wrongs), []);
});

test('the playground introspects and follows with what the sign-in gave, and ends with it', async () => {
  const identity = randomIdentity();
  const connector = newConnector();
  const { page, wrongs } = await open('/playground', { viewport: { width: 1400, height: 1000 } });
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(socket));
  const introspected = page.waitForResponse((response) => response.request().postData()?.includes('IntrospectionQuery') ?? false);
  await signIn(page, await tokenOf(identity));
  const { data } = await (await introspected).json();
  assert.ok(data.__schema.types.length > 50);
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.locator('.graphiql-doc-explorer').getByText('Mutation').first().waitFor();

  await openTab(page, 'Changes', 'subscription');
  // A click before the editor is ready shows nothing, or runs what the tab before had; and what follows may begin after a
  // first claim: run until it follows, and claim until it tells.
  const [run, stop] = ['Execute query', 'Stop query'].map((name) => page.getByRole('button', { name }));
  const told = page.locator('.graphiql-response').getByText('"OPERATION"').first();
  await until(
    async () => {
      if (!(await stop.isVisible())) await run.click({ timeout: 1_000 }).catch(() => undefined);
      await claimAs(identity, connector);
      return told.isVisible();
    },
    Boolean,
    'it tells of a claim',
  );
  assert.equal(sockets.length, 2, 'the feed’s and the playground’s');
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await until(() => sockets.map((socket) => socket.isClosed()), (closed) => closed.every(Boolean), 'both sockets are closed');
  assert.deepEqual(expected(wrongs), []);
});

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds nothing wrong with signing in, ${colorScheme}`, async () => {
    const { page, wrongs } = await open('/', { colorScheme });
    assert.deepEqual(await violations(page), []);
    await signIn(page, 'nonsense');
    await page.getByText(NOT_ACCEPTED).waitFor();
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 390, height: 800 });
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(expected(wrongs), []);
  });
}
