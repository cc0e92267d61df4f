// The main path of each screen, on a server that holds a little of everything.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { seed } from '../../scripts/seed.mjs';
import { claim, live, newConnector, openPage, record, request, row, rows, server, until } from './support.mjs';

before(async () => {
  await seed(server);
});

test('the overview counts by state, live, and each reason for attention leads to its list', async () => {
  const { page, wrongs } = await openPage('/');
  await live(page);
  const tile = page.locator('a.tile', { hasText: 'reconcile only' }).locator('.figure');
  await page.waitForFunction(() => /^\d/.test(document.querySelector('a.tile .figure')?.textContent ?? ''));
  const counted = Number((await tile.textContent()).replaceAll(',', ''));
  await record(await claim(newConnector()), { toState: 'RECONCILE_ONLY' });
  await until(async () => Number((await tile.textContent()).replaceAll(',', '')), (now) => now > counted, 'reconcile only');

  for (const [reason, list] of [
    ['NEEDS_RECONCILE', '/operations?state=RECONCILE_ONLY'],
    ['DEAD', '/operations?state=DEAD'],
    ['REPAIR_FAILED', '/watches?status=REPAIR_FAILED'],
    ['MAYBE_SENT', '/operations?stuck=MAYBE_SENT'],
    ['WAITING_FOR_AUTH', '/operations?defer=AUTH'],
    ['OFFLINE', '/operations?defer=OFFLINE'],
    ['SWEEP_REFUSED', '/sweeps?view=candidates&candidate=REFUSED'],
  ]) {
    await page.locator(`.card[data-reason="${reason}"] a`).first().click();
    assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, list);
    await rows(page).first().waitFor();
    await page.goBack();
  }
  assert.deepEqual(wrongs, []);
});

test('the overview draws what happened and tells how the server does', async () => {
  const { page, wrongs } = await openPage('/');
  await page.locator('.plot .bar[data-tone="good"]').first().waitFor();
  await page.locator('.legend li', { hasText: /^committed [1-9]/ }).waitFor();
  await page.locator('.numbers summary').first().click();
  await page.locator('.numbers td', { hasText: /^[1-9]/ }).first().waitFor();
  for (const sign of ['sqlite answers', 'on this database', 'keeps up']) await page.locator('.signs', { hasText: sign }).waitFor();
  await page.locator('#health ~ table tbody tr').first().waitFor();
  assert.deepEqual(wrongs, []);
});

test('documents are listed by write state, explained, and looked up', async () => {
  const { page, wrongs } = await openPage('/documents');
  await live(page);
  await page.getByRole('button', { name: 'diverged' }).click();
  await rows(page).first().getByText('1 check found something else').waitFor();
  const { operations } = await request('{ operations(filter: { states: [COMMITTED] }, first: 1) { nodes { documentId } } }');
  await page.getByLabel('Document id').fill(operations.nodes[0].documentId);
  await page.getByRole('button', { name: 'Look up' }).click();
  const panel = page.getByRole('complementary');
  await panel.locator('.timeline > li').first().waitFor();
  await panel.getByText('Winner now').waitFor();
  assert.deepEqual(wrongs, []);
});

test('a document that gets into the listed states appears', async () => {
  const connector = newConnector();
  const { page, wrongs } = await openPage(`/documents?state=FAILED&connector=${connector}`);
  await live(page);
  await page.getByText('No document is in these states').waitFor();
  const operation = await claim(connector);
  await record(operation, { toState: 'DEAD' });
  await row(page, operation.documentId).waitFor();
  assert.deepEqual(wrongs, []);
});

test('sweeps show how far each relist is, what holds the checkpoint back, and refused candidates with their errors', async () => {
  const { page, wrongs } = await openPage('/sweeps?partition=calendars%2Fprimary');
  await page.getByText(/The checkpoint is at sequence 1/).first().waitFor();
  await page.getByText(/of its candidates are not resolved: they hold it back/).first().waitFor();
  await page.locator('.receipts [data-state="APPLIED"]').first().waitFor();
  await page.getByRole('button', { name: 'Candidates' }).click();
  await page.getByRole('button', { name: 'refused' }).click();
  await rows(page).first().getByText(/UNIQUE constraint failed/).waitFor();
  await rows(page).first().locator('.opener').click();
  await page.getByRole('complementary').getByText('5 of 5').waitFor();
  assert.deepEqual(wrongs, []);
});

test('sync states are listed and opened; pending authorisations show no secret', async () => {
  const { page, wrongs } = await openPage('/sync?connector=contacts');
  await rows(page).first().locator('.opener').click();
  await page.getByRole('complementary').getByText('"syncToken"').waitFor();
  await page.keyboard.press('Escape');
  const input = { connectorName: 'contacts', ownerDid: 'did:web:new.example', status: 'IDLE', entityCount: 7, lastSyncedAt: new Date().toISOString() };
  await request('mutation ($input: SetSyncStateInput!) { setSyncState(input: $input) { outcome } }', { input });
  // The focus is back in the list and holds it: what changed is announced, and comes in when the focus leaves.
  await page.getByRole('button', { name: 'The list has changed' }).waitFor();
  // Longer than changes are gathered for: by now only the leaving of the focus brings it in.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_500)));
  await page.getByRole('heading', { level: 1 }).click();
  await page.locator('.row', { hasText: 'did:web:new.example' }).waitFor();
  await page.goto(new URL('/sync?connector=contacts&owner=did:web:new.example', page.url()).href);
  await page.locator('.row', { hasText: 'did:web:new.example' }).waitFor();
  assert.equal(await rows(page).count(), 1, 'that owner’s alone');
  await page.goto(new URL('/sync', page.url()).href);
  await page.getByRole('button', { name: 'Pending authorisations' }).click();
  await page.locator('.row', { hasText: 'google' }).first().waitFor();
  assert.doesNotMatch(await page.content(), /verifier/i);
  assert.deepEqual(wrongs, []);
});

test('the feed filters, follows, goes on from a cursor and is copied as JSON', async () => {
  const connector = newConnector();
  const { page, wrongs, context } = await openPage(`/feed?connector=${connector}`);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await live(page);
  await page.getByText('No change matches').waitFor();
  const operation = await claim(connector);
  await rows(page).getByText('claim', { exact: true }).waitFor();
  const { changes } = await request('query ($f: ChangeFilter) { changes(filter: $f, last: 1) { pageInfo { endCursor } } }', { f: { connectorName: connector } });
  await record(operation, { toState: 'DEAD' });
  await rows(page).getByText('record', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Copy as JSON: what is listed' }).click();
  await page.getByText('copied').waitFor();
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.deepEqual(copied.map(({ transition }) => transition), ['release_lease', 'record', 'claim']);

  await page.goto(new URL(`/feed?connector=${connector}&after=${encodeURIComponent(changes.pageInfo.endCursor)}`, page.url()).href);
  await rows(page).getByText('record', { exact: true }).waitFor();
  assert.equal(await rows(page).getByText('claim', { exact: true }).count(), 0, 'nothing up to the cursor');
  assert.deepEqual(wrongs, []);
});

test('anything is found by the beginning of its id, by keyboard alone', async () => {
  const operation = await claim(newConnector());
  const { page, wrongs } = await openPage('/');
  await live(page);
  await page.keyboard.press('/');
  await page.keyboard.type(operation.operationId.slice(0, 13));
  await page.getByRole('option', { name: new RegExp(operation.operationId) }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary').getByText(operation.operationId, { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.getByRole('heading', { name: 'Feed' }).waitFor();
  assert.deepEqual(wrongs, []);
});

test('the time zone and the colours are a person’s choice, and last', async () => {
  const operation = await claim(newConnector());
  const { page, wrongs } = await openPage(`/operations?open=${operation.id}`, { colorScheme: 'light' });
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByLabel('Time zone').selectOption('Pacific/Kiritimati');
  await page.getByLabel('Colours').selectOption('dark');
  await page.reload();
  await page.locator('.panel time[title*="GMT+14"]').first().waitFor();
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark');
  assert.deepEqual(wrongs, []);
});
