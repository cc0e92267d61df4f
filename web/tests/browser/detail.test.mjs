// The panel: one operation in full, live, what can be done to it, and out of the way again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim, failCheck, finalize, live, newConnector, openPage, record, request, row, until } from './support.mjs';

test('an operation opens by keyboard, follows its changes, and closes by Escape', async () => {
  const connector = newConnector();
  const operation = await claim(connector, { reissueIntent: { title: 'A meeting' } });
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await live(page);
  await row(page, operation.id).locator('.opener').focus();
  await page.keyboard.press('Enter');

  const panel = page.getByRole('complementary');
  await panel.getByText(/held, ends in \d+:\d\d/).waitFor();
  await panel.getByText(operation.operationId, { exact: true }).waitFor();
  await panel.getByText('"title": "A meeting"').waitFor();
  assert.equal(await panel.locator('.timeline > li').count(), 1);
  await finalize(operation);
  await panel.locator('.standing').getByText('committed').waitFor();
  await panel.locator('.timeline > li').nth(1).waitFor();

  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).searchParams.get('open'), null);
  await row(page, operation.id).locator('.opener:focus').waitFor();
  assert.deepEqual(wrongs, []);
});

test('a lease that is renewed goes on counting, and one that ends is seen to end, though nothing tells of either', async () => {
  const connector = newConnector();
  const operation = await claim(connector, { leaseMs: 6_000 });
  const { page, wrongs } = await openPage(`/operations?open=${operation.id}`);
  await page.getByText(/^held, ends in/).waitFor();
  const renew = 'mutation ($input: LeaseInput!) { renewLease(input: $input) { outcome } }';
  await request(renew, { input: { id: operation.id, leaseToken: operation.leaseToken, leaseMs: 10_000 } });
  // It is read again before the first lease would have ended, so that more is left than the first one had.
  await page.getByText(/^held, ends in 0:(0[7-9]|10)/).waitFor();
  await page.getByText(/anyone may take it/).waitFor();
  assert.deepEqual(wrongs, []);
});

async function act(page, label, why, more) {
  await page.getByRole('complementary').getByRole('button', { name: label }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why?').fill(why);
  await more?.(dialog);
  await dialog.locator('button[type="submit"]').click();
  await dialog.waitFor({ state: 'detached' });
}

function note(page, text) {
  return page.locator('.timeline blockquote', { hasText: text }).first().waitFor();
}

test('defer and drive now move the next attempt, each with its note', async () => {
  const operation = await claim(newConnector());
  await record(operation, { toState: 'ATTEMPTED', nextAttemptAt: new Date(Date.now() + 60_000).toISOString() });
  const { page, wrongs } = await openPage(`/operations?open=${operation.id}`);
  await act(page, 'Defer…', 'the provider is closed', async (dialog) => {
    await dialog.getByRole('button', { name: '8 h' }).click();
    await dialog.getByLabel('It waits for').selectOption('OFFLINE');
  });
  await note(page, 'the provider is closed');
  await page.getByText(/in [78] h, waits for the network/).waitFor();
  await act(page, 'Drive now…', 'it is open again');
  await note(page, 'it is open again');
  await page.locator('.field', { hasText: 'Next attempt' }).getByText('due', { exact: true }).waitFor();
  await page.getByText('It is due already').waitFor();
  assert.deepEqual(wrongs, []);
});

test('mark dead takes the lease and records; reissue makes a new operation that any worker may take', async () => {
  const operation = await claim(newConnector());
  await record(operation, { toState: 'RECONCILE_ONLY', kind: 'timeout' });
  const { page, wrongs } = await openPage(`/operations?open=${operation.id}`);
  await act(page, 'Mark dead…', 'looked: it is not there');
  await page.locator('.standing').getByText('dead', { exact: true }).waitFor();
  await note(page, 'looked: it is not there');
  await act(page, 'Reissue…', 'once more');
  await page.getByText('It was reissued already').waitFor();
  const { node } = await request('query ($id: ID!) { node(id: $id) { ... on Operation { state lastKind reissuedAs { state lease { live } } } } }', { id: operation.id });
  assert.deepEqual(node, { state: 'DEAD', lastKind: 'timeout', reissuedAs: { state: 'ATTEMPTED', lease: null } });
  await page.locator('.field', { hasText: 'Reissued as' }).getByRole('link').click();
  await note(page, 'once more');
  assert.deepEqual(wrongs, []);
});

test('an act that is not possible says why, and what the server refuses is told', async () => {
  const held = await claim(newConnector());
  const { page, wrongs } = await openPage(`/operations?open=${held.id}`);
  await page.getByText(/Somebody works on it: the lease ends in/).waitFor();
  const drive = page.getByRole('button', { name: 'Drive now…' });
  assert.equal(await drive.getAttribute('aria-disabled'), 'true');
  await drive.click({ force: true });
  assert.equal(await page.getByRole('dialog').count(), 0);

  // Between the opening of the dialog and the act, a worker takes the lease.
  const free = await claim(newConnector());
  await record(free, { toState: 'ATTEMPTED', nextAttemptAt: new Date(Date.now() + 60_000).toISOString() });
  await page.goto(new URL(`/operations?open=${free.id}`, page.url()).href);
  await page.getByRole('button', { name: 'Mark dead…' }).click();
  await request('mutation ($input: LeaseInput!) { acquireLease(input: $input) { outcome } }', { input: { id: free.id, leaseToken: 'a-worker', leaseMs: 60_000 } });
  await page.getByRole('dialog').getByRole('button', { name: 'Mark dead' }).click();
  await page.getByRole('dialog').getByText('holds a live lease').waitFor();
  assert.deepEqual(wrongs, []);
});

test('a watch is pulled again', async () => {
  const finalized = await finalize(await claim(newConnector()));
  await failCheck(finalized);
  const { page, wrongs } = await openPage(`/watches?open=${finalized.watch.id}`);
  await page.locator('.standing').getByText('repair failed').waitFor();
  await page.locator('.field', { hasText: 'Checks that differed' }).getByText('1 of 1').waitFor();
  await act(page, 'Re-pull…', 'it was repaired by hand');
  await page.locator('.standing').getByText('pending verification').waitFor();
  await note(page, 'it was repaired by hand');
  const generation = 'query ($id: ID!) { node(id: $id) { ... on Watch { generation } } }';
  await until(() => request(generation, { id: finalized.watch.id }), ({ node }) => node.generation === 1, 'the generation');
  assert.deepEqual(wrongs, []);
});

test('the document’s other operations are a click away, and its panel explains its state', async () => {
  const connector = newConnector();
  const first = await claim(connector);
  await finalize(first);
  const second = await claim(connector, { documentId: first.documentId, op: 'UPDATE' });
  await record(second, { toState: 'DEAD', kind: 'forbidden', httpStatus: 403 });
  const { page, wrongs } = await openPage(`/operations?open=${first.id}`);
  const panel = page.getByRole('complementary');
  await panel.locator('.links a', { hasText: 'update event' }).click();
  await panel.getByText(second.operationId, { exact: true }).waitFor();
  await panel.getByRole('link', { name: first.documentId }).click();
  await panel.getByText(/was given up. The last answer was: forbidden, HTTP 403/).waitFor();
  await panel.getByText('The provider was not seen to show the winner yet').waitFor();
  assert.deepEqual(wrongs, []);
});
