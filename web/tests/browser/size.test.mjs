// How much a first visit loads, compressed, without the playground.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { live, openPage } from './support.mjs';

const MOST_BYTES = 250_000;

test('a first visit to every view loads less than 250 kB compressed', async () => {
  const files = new Map();
  const reading = [];
  const prepare = (page) =>
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (response.request().method() !== 'GET' || pathname === '/graphql') return;
      reading.push(response.body().then((body) => files.set(pathname, gzipSync(body).length), () => undefined));
    });
  const { page, wrongs } = await openPage('/', { prepare });
  await live(page);
  for (const name of ['Operations', 'Documents', 'Watches', 'Sweeps', 'Sync & hand-offs', 'Feed', 'Overview']) {
    await page.getByRole('link', { name: new RegExp(`^${name}`) }).first().click();
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  await page.locator('.plot, .empty').first().waitFor();
  await Promise.all(reading);
  const loaded = [...files.keys()].join(' ');
  assert.match(loaded, /\/assets\/.*\.js/, 'the script was seen');
  assert.doesNotMatch(loaded, /playground|monaco/);
  const bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
  console.log(`first load: ${bytes} bytes compressed`);
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes: ${JSON.stringify([...files])}`);
  assert.deepEqual(wrongs, []);
});
