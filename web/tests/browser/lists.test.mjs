// The lists: what happens on the server shows on the page, at once, in place, and without anything missing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim, finalize, live, newConnector, openPage, row, withBrowser } from './support.mjs';

test('an operation appears, commits in place, and its watch appears', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const { page, wrongs } = await openPage(browser, `/?connector=${connector}`);
    await live(page);
    await page.getByText('No operation matches').waitFor();

    const operation = await claim(connector);
    await row(page, operation.id).getByText('attempted').waitFor();
    const { watch } = await finalize(operation);
    await row(page, operation.id).getByText('committed', { exact: true }).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1, 'it changed in place');

    await page.getByRole('link', { name: 'Watches' }).click();
    await page.getByLabel('Connector').fill(connector);
    await page.waitForURL(`**/watches?connector=${connector}`);
    await row(page, watch.id).getByText('pending verification').waitFor();

    await page.getByRole('link', { name: 'Feed' }).click();
    await page.locator('tbody tr', { hasText: connector }).first().waitFor();
    assert.deepEqual(wrongs, []);
  }));

test('the filter decides what comes in and what leaves', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const { page, wrongs } = await openPage(browser, `/?state=ATTEMPTED&connector=${connector}`);
    await live(page);
    const [first, second] = [await claim(connector), await claim(connector)];
    await claim(newConnector());
    await row(page, second.id).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 2);

    await finalize(first);
    await row(page, first.id).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'committed' }).click();
    await row(page, first.id).waitFor();
    await page.getByRole('button', { name: 'attempted' }).click();
    await row(page, second.id).waitFor({ state: 'detached' });
    assert.deepEqual(new URL(page.url()).searchParams.getAll('state'), ['COMMITTED']);
    assert.deepEqual(wrongs, []);
  }));

test('nothing moves under the pointer until it leaves', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const before = await claim(connector);
    const { page, wrongs } = await openPage(browser, `/?state=ATTEMPTED&connector=${connector}`);
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
  }));

test('older pages load on demand, each row once', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const operations = [];
    for (let made = 0; made < 60; made += 1) operations.push(await claim(connector));
    const { page, wrongs } = await openPage(browser, `/?connector=${connector}`);
    await live(page);
    await row(page, operations.at(-1).id).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 50);

    // The oldest moves to the top while it is on no page yet: it must not come a second time with its page.
    await finalize(operations[0]);
    await row(page, operations[0].id).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await row(page, operations[1].id).waitFor();
    const ids = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.dataset.id));
    assert.deepEqual(ids.toSorted(), operations.map(({ id }) => id).toSorted());
    assert.equal(ids[0], operations[0].id);
    assert.deepEqual(wrongs, []);
  }));

test('a burst larger than the list has room for tears it, and every row can still be reached', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const first = await claim(connector);
    const { page, wrongs } = await openPage(browser, `/?connector=${connector}`);
    await live(page);
    await row(page, first.id).hover();
    const burst = await claimMany(connector, 260);
    await page.getByRole('button', { name: '201 new' }).waitFor();
    await page.mouse.move(5, 5);
    await page.locator('tbody tr').nth(200).waitFor();

    const more = page.getByRole('button', { name: 'Load more' });
    await more.click();
    for (let shown = 50; shown < burst.length + 1; shown += 50) {
      await page.locator('tbody tr').nth(shown - 1).waitFor();
      await page.waitForFunction((shown) => document.querySelectorAll('tbody tr').length === shown, shown);
      await more.click();
    }
    await row(page, first.id).waitFor();
    const ids = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.dataset.id));
    assert.deepEqual(ids.toSorted(), [first, ...burst].map(({ id }) => id).toSorted());
    assert.deepEqual(wrongs, []);
  }));

// Twenty at a time: faster than one by one, and still within what a server takes without saying it is busy.
async function claimMany(connector, count) {
  const claimed = [];
  while (claimed.length < count) {
    claimed.push(...(await Promise.all(Array.from({ length: 20 }, () => claim(connector)))));
  }
  return claimed;
}

test('a lost socket is shown, and the list catches up from its last cursor', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const sockets = [];
    let reachable = true;
    const prepare = (page) =>
      page.routeWebSocket('**/graphql', (socket) => {
        if (!reachable) {
          socket.close({ code: 1012 });
          return;
        }
        socket.connectToServer();
        sockets.push(socket);
      });
    const { page, wrongs } = await openPage(browser, `/?connector=${connector}`, { prepare });
    await live(page);
    const before = await claim(connector);
    await row(page, before.id).waitFor();

    reachable = false;
    await sockets.at(-1).close({ code: 1012, reason: 'restart' });
    await page.locator('.status[data-now="reconnecting"]').waitFor();
    const during = [await claim(connector), await claim(connector)];
    await finalize(before);
    let reads = 0;
    page.on('request', () => (reads += 1));
    reachable = true;
    await live(page);
    await row(page, during[0].id).waitFor();
    await row(page, during[1].id).waitFor();
    await row(page, before.id).getByText('committed', { exact: true }).waitFor();
    assert.equal(reads, 0, 'the changes came by the subscription, not by reading the list again');
    assert.deepEqual(wrongs, []);
  }));
