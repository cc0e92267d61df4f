// What is live stays whole: through bursts, a lost socket and a server that is started again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { api, claimMany } from '../../scripts/api.mjs';
import { OwnServer } from './own-server.mjs';
import { claim, claimInput, finalize, live, newConnector, openPage, request, row, rows } from './support.mjs';

const PER_SECOND = 500;
const BURST_S = 3;

test('a burst of 500 transitions a second is shown whole, and the page stays quick', async () => {
  const connector = newConnector();
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await live(page);
  // The longest time for which the page did not get to draw.
  await page.evaluate(() => {
    let last = performance.now();
    globalThis.longestMs = 0;
    const tick = (now) => {
      globalThis.longestMs = Math.max(globalThis.longestMs, now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const begun = Date.now();
  const made = [];
  for (let tenth = 0; tenth < BURST_S * 10; tenth += 1) {
    made.push(...(await claimMany(request, Array.from({ length: PER_SECOND / 10 }, () => claimInput(connector)))));
    const early = begun + (tenth + 1) * 100 - Date.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
  }
  // Every one is listed, beside the header.
  await page.waitForFunction((count) => document.querySelector('[role="table"]').getAttribute('aria-rowcount') === count, String(made.length + 1));
  await row(page, made.at(-1).id).waitFor();
  const longestMs = await page.evaluate(() => globalThis.longestMs);
  assert.ok(longestMs < 1_000, `the page stood still for ${longestMs} ms`);
  assert.deepEqual(wrongs, []);
});

test('while the list is held, a burst only announces itself', async () => {
  const connector = newConnector();
  const before = await claim(connector);
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await live(page);
  await row(page, before.id).hover();
  const box = await row(page, before.id).boundingBox();
  await claimMany(request, Array.from({ length: 300 }, () => claimInput(connector)));
  await page.getByRole('button', { name: '300 new' }).waitFor();
  assert.deepEqual(await row(page, before.id).boundingBox(), box, 'nothing moved under the pointer');
  await page.getByRole('button', { name: '300 new' }).click();
  await page.waitForFunction(() => document.querySelector('[role="table"]').getAttribute('aria-rowcount') === '302');
  assert.deepEqual(wrongs, []);
});

test('a lost socket is shown, and the list catches up from its last cursor', async () => {
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
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`, { prepare });
  await live(page);
  const before = await claim(connector);
  await row(page, before.id).waitFor();

  reachable = false;
  await sockets.at(-1).close({ code: 1012, reason: 'restart' });
  await page.locator('.status[data-now="reconnecting"]').waitFor();
  const during = [await claim(connector), await claim(connector)];
  await finalize(before);
  let lists = 0;
  page.on('request', (sent) => (lists += sent.postData()?.includes('query Operations') ? 1 : 0));
  reachable = true;
  await live(page);
  await row(page, during[0].id).waitFor();
  await row(page, during[1].id).waitFor();
  await row(page, before.id).getByText('committed', { exact: true }).waitFor();
  assert.equal(lists, 0, 'the changes came by the subscription, not by reading the list again');
  assert.deepEqual(wrongs, []);
});

test('a server that is killed and started again is caught up with, and nothing is missed', async () => {
  const own = new OwnServer();
  try {
    const url = await own.start();
    const connector = newConnector();
    const first = await claimMany(api(url), [claimInput(connector)]);
    const { page, wrongs, context } = await openPage(`/operations?connector=${connector}`, { origin: url });
    await live(page);
    await row(page, first[0].id).waitFor();
    await own.stop('SIGKILL');
    await page.locator('.status[data-now="reconnecting"]').waitFor();
    await own.start();
    const during = await claimMany(api(url), Array.from({ length: 20 }, () => claimInput(connector)));
    await live(page);
    const after = await claimMany(api(url), [claimInput(connector)]);
    for (const { id } of [...during, ...after]) await row(page, id).waitFor();
    assert.equal(await rows(page).count(), 22);
    await context.close();
    // While nobody is there, the browser itself tells of each connection that was refused.
    assert.deepEqual(wrongs.filter((wrong) => !wrong.includes('ERR_CONNECTION_REFUSED')), []);
  } finally {
    await own.remove();
  }
});
