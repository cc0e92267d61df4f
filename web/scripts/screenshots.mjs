// Makes a picture of each screen, light and dark, wide and on a phone, from a server that seed.mjs has filled:
//
//   scripts/with-server.sh npm --prefix web run screenshots
import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { seed } from './seed.mjs';
import { api } from './api.mjs';

const url = process.env.WRITEWATCH_URL ?? 'http://127.0.0.1:4000';
const folder = new URL('../screenshots/', import.meta.url);
const only = process.argv[2];

const request = api(url);
const { operations } = await request('{ operations(first: 1) { nodes { id } } }');
if (operations.nodes.length === 0) await seed(url);
const first = async (filter) => (await request(`{ operations(filter: ${filter}, first: 1) { nodes { id documentId } } }`)).operations.nodes[0];
const dead = await first('{ states: [DEAD] }');
const committed = await first('{ states: [COMMITTED] }');
const { watches } = await request('{ watches(filter: { statuses: [REPAIR_FAILED] }, first: 1) { nodes { id } } }');

const press = (name) => (page) => page.getByRole('button', { name, exact: true }).first().click();
// Each screen: its name, its address, and what to do there before the picture is taken.
const SCREENS = [
  ['overview', '/'],
  ['operations', '/operations'],
  ['operations-filtered', '/operations?state=DEAD&connector=calendar'],
  ['operations-due', '/operations?sort=due'],
  ['operation', `/operations?open=${dead.id}`],
  ['operation-committed', `/operations?open=${committed.id}`],
  ['operation-reissue', `/operations?open=${dead.id}`, press('Reissue…')],
  ['bulk', '/operations?state=DEAD', press('Act on all…')],
  ['documents', '/documents'],
  ['document', `/documents?doc=${encodeURIComponent(committed.documentId)}`],
  ['watches', '/watches'],
  ['watch', `/watches?open=${watches.nodes[0].id}`],
  ['sweeps', '/sweeps'],
  ['candidates', '/sweeps?view=candidates&candidate=REFUSED'],
  ['sync', '/sync'],
  ['hand-offs', '/sync?view=hand-offs'],
  ['feed', '/feed'],
  ['search', '/', (page) => page.keyboard.press('/').then(() => page.keyboard.type('event'))],
  ['playground', '/playground'],
].filter(([name]) => only === undefined || name === only);

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu'] });
for (const colorScheme of ['light', 'dark']) {
  for (const [size, viewport] of [['wide', { width: 1440, height: 900 }], ['phone', { width: 390, height: 844 }]]) {
    const context = await browser.newContext({ colorScheme, viewport, reducedMotion: 'reduce' });
    const page = await context.newPage();
    for (const [name, path, act] of SCREENS) {
      await page.goto(url + path);
      if (name !== 'playground') await page.locator('.status[data-now="live"]').waitFor();
      await page.waitForLoadState('networkidle');
      await act?.(page);
      await page.waitForTimeout(name === 'playground' ? 2_500 : 350);
      await page.screenshot({ path: new URL(`${name}-${size}-${colorScheme}.png`, folder).pathname });
    }
    await context.close();
  }
}
await browser.close();
