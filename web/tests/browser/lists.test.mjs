// The lists: what happens on the server shows on the page, at once, in place, and without anything missing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimMany } from '../../scripts/api.mjs';
import { claim, claimInput, finalize, live, newConnector, openPage, record, request, row, rows } from './support.mjs';

test('an operation appears, commits in place, and its watch appears', async () => {
  const connector = newConnector();
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await live(page);
  await page.getByText('No operation matches').waitFor();

  const operation = await claim(connector);
  await row(page, operation.id).getByText('attempted').waitFor();
  const { watch } = await finalize(operation);
  await row(page, operation.id).getByText('committed', { exact: true }).waitFor();
  assert.equal(await rows(page).count(), 1, 'it changed in place');

  await page.goto(new URL(`/watches?connector=${connector}`, page.url()).href);
  await row(page, watch.id).getByText('pending verification').waitFor();
  assert.deepEqual(wrongs, []);
});

test('the filter decides what comes in and what leaves, and stands in the address', async () => {
  const connector = newConnector();
  const { page, wrongs } = await openPage(`/operations?state=ATTEMPTED&connector=${connector}`);
  await live(page);
  const [first, second] = [await claim(connector), await claim(connector)];
  await claim(newConnector());
  await row(page, second.id).waitFor();
  assert.equal(await rows(page).count(), 2);

  await finalize(first);
  await row(page, first.id).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'committed' }).click();
  await row(page, first.id).waitFor();
  await page.getByRole('button', { name: 'attempted' }).click();
  await row(page, second.id).waitFor({ state: 'detached' });
  assert.deepEqual(new URL(page.url()).searchParams.getAll('state'), ['COMMITTED']);
  assert.deepEqual(wrongs, []);
});

test('each filter of the form finds what it names', async () => {
  const connector = newConnector();
  const dead = await claim(connector, { ownerDid: 'did:example:bob', callerDid: 'did:example:other', model: 'contact' });
  await record(dead, { toState: 'DEAD', kind: 'gone', httpStatus: 410 });
  const offline = await claim(connector);
  await record(offline, { toState: 'ATTEMPTED', deferReason: 'OFFLINE', nextAttemptAt: new Date(Date.now() + 60_000).toISOString() });
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await live(page);
  for (const [field, value, found, other] of [
    ['Owner', 'did:example:bob', dead, offline],
    ['Caller', 'did:example:other', dead, offline],
    ['Document', dead.documentId, dead, offline],
    ['Model', 'contact', dead, offline],
    ['Error kind', 'gone', dead, offline],
    ['Waits for', 'OFFLINE', offline, dead],
    ['Updated in', '1h', dead, undefined],
  ]) {
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const form = page.locator('.filter-form');
    const line = form.locator('.line', { hasText: field });
    if (await line.locator('select').count()) await line.locator('select').selectOption(value);
    else await line.locator('input').fill(value);
    await form.getByRole('button', { name: 'Apply' }).click();
    await row(page, found.id).waitFor();
    if (other) await row(page, other.id).waitFor({ state: 'detached' });
    await page.locator('.pill', { hasText: field }).click();
    if (other) await row(page, other.id).waitFor();
  }
  assert.deepEqual(wrongs, []);
});

test('the list is sorted by the columns that the server can sort', async () => {
  const connector = newConnector();
  const [first, second] = [await claim(connector), await claim(connector)];
  await finalize(first);
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`, { viewport: { width: 1700, height: 900 } });
  await live(page);
  const top = (id) => page.locator(`.row[data-index="0"][data-id="${id}"]`).waitFor();
  await top(first.id);
  await page.getByRole('button', { name: /^Created/ }).click();
  await top(second.id);
  await page.getByRole('button', { name: /^Created/ }).click();
  await top(first.id);
  assert.equal(new URL(page.url()).searchParams.get('sort'), 'created_asc');
  await page.locator('[role="columnheader"][aria-sort="ascending"]', { hasText: 'Created' }).waitFor();
  assert.deepEqual(wrongs, []);
});

test('nothing moves under the pointer, what is new is announced, and comes in when the pointer leaves', async () => {
  const connector = newConnector();
  const before = await claim(connector);
  const { page, wrongs } = await openPage(`/operations?state=ATTEMPTED&connector=${connector}`);
  await live(page);
  await row(page, before.id).hover();
  const during = await claim(connector);
  await page.getByRole('button', { name: '1 new' }).waitFor();
  await finalize(before);
  await row(page, before.id).getByText('committed', { exact: true }).waitFor();
  assert.equal(await row(page, during.id).count(), 0);

  await page.mouse.move(5, 5);
  await row(page, during.id).waitFor();
  await row(page, before.id).waitFor({ state: 'detached' });
  assert.deepEqual(wrongs, []);
});

test('a paused list stands still, and misses nothing', async () => {
  const connector = newConnector();
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await live(page);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.mouse.move(5, 5);
  const made = [await claim(connector), await claim(connector)];
  await page.getByRole('button', { name: '2 new' }).waitFor();
  assert.equal(await rows(page).count(), 0);
  await page.getByRole('button', { name: 'Resume' }).click();
  for (const { id } of made) await row(page, id).waitFor();
  assert.deepEqual(wrongs, []);
});

test('scrolling reads page after page, each row once, with only the visible ones in the page', async () => {
  const connector = newConnector();
  const inputs = Array.from({ length: 420 }, () => claimInput(connector));
  const made = await claimMany(request, inputs);
  const { page, wrongs } = await openPage(`/operations?sort=created_desc&connector=${connector}`);
  await live(page);
  await rows(page).first().waitFor();
  const seen = new Set();
  const list = page.getByRole('table', { name: 'Operations' });
  for (let turn = 0; seen.size < made.length && turn < 100; turn += 1) {
    const shown = await rows(page).evaluateAll((all) => all.map((one) => one.dataset.id));
    assert.ok(shown.length < 80, `${shown.length} rows in the page`);
    for (const id of shown) seen.add(id);
    // The list shows what it was scrolled to a frame later: only then it says what is still being read.
    await list.evaluate((element) => {
      element.scrollBy(0, 600);
      return new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
    });
    await page.waitForFunction(() => document.querySelector('.skeleton') === null);
  }
  assert.deepEqual([...seen].toSorted(), made.map(({ id }) => id).toSorted());
  assert.deepEqual(wrongs, []);
});

test('the keyboard moves from row to row and opens one', async () => {
  const connector = newConnector();
  const [below, above] = [await claim(connector), await claim(connector)];
  const { page, wrongs } = await openPage(`/operations?sort=created_desc&connector=${connector}`);
  await live(page);
  await row(page, above.id).locator('.opener').focus();
  await page.keyboard.press('ArrowDown');
  await row(page, below.id).locator('.opener:focus').waitFor();
  await page.keyboard.press('Home');
  await row(page, above.id).locator('.opener:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary').getByText(above.operationId, { exact: true }).waitFor();
  assert.deepEqual(wrongs, []);
});

test('an operation is found by any of its ids, and the search stands in the address', async () => {
  const connector = newConnector();
  const operation = await claim(connector);
  const { page, wrongs } = await openPage('/operations');
  await live(page);
  for (const text of [operation.id, operation.operationId, operation.operationId.slice(0, 12), operation.documentId]) {
    await page.getByLabel('Any id of an operation').fill(text);
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('q') === text);
    await page.waitForFunction(() => document.querySelectorAll('.row[data-id]').length === 1);
    await row(page, operation.id).waitFor();
  }
  // What was found goes on changing in place; what was not does not come in.
  await claim(connector);
  await record(operation, { toState: 'DEAD' });
  await row(page, operation.id).getByText('dead', { exact: true }).waitFor();
  await page.mouse.move(5, 5);
  assert.equal(await page.getByRole('button', { name: / new/ }).count(), 0);
  assert.equal(await rows(page).count(), 1);
  assert.deepEqual(wrongs, []);
});

test('due operations are a list of their own', async () => {
  const connector = newConnector();
  const due = await claim(connector);
  await record(due, { toState: 'ATTEMPTED' });
  const later = await claim(connector);
  await record(later, { toState: 'ATTEMPTED', nextAttemptAt: new Date(Date.now() + 600_000).toISOString() });
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await row(page, later.id).waitFor();
  await page.getByRole('button', { name: 'Due now' }).click();
  await row(page, later.id).waitFor({ state: 'detached' });
  await row(page, due.id).waitFor();
  assert.deepEqual(wrongs, []);
});
