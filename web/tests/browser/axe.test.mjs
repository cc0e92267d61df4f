// What keeps people with disabilities from using the page: axe finds nothing, on every screen, in both schemes, with what
// opens over it open.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { seed } from '../../scripts/seed.mjs';
import { openPage, request, server, violations } from './support.mjs';

let dead, held, committed, diverged;
before(async () => {
  const nodes = (await seed(server)) && ((query) => request(query).then((data) => Object.values(data)[0].nodes[0]));
  dead = await nodes('{ operations(filter: { states: [DEAD] }, first: 1) { nodes { id } } }');
  held = await nodes('{ operations(filter: { states: [ATTEMPTED] }, first: 1) { nodes { id } } }');
  committed = await nodes('{ operations(filter: { states: [COMMITTED] }, first: 1) { nodes { id documentId } } }');
  diverged = await nodes('{ watches(filter: { statuses: [REPAIR_FAILED] }, first: 1) { nodes { id } } }');
});

const press = (name) => (page) => page.getByRole('button', { name, exact: true }).first().click();

// Each screen: its name, its address, what shows that it is filled, what is opened over it, and what shows that.
function screens() {
  return [
    ['overview', '/', '.plot .bar'],
    ['overview, numbers', '/', '.plot .bar', (page) => page.locator('.numbers summary').first().click(), '.numbers td'],
    ['operations', '/operations', '.row[data-id]'],
    ['operations, no match', '/operations?connector=nobody', '.empty'],
    ['operations, due', '/operations?sort=due', '.row[data-id]'],
    ['filters', '/operations?state=DEAD&connector=calendar', '.row[data-id]', press('Filter'), '.filter-form'],
    ['operation', `/operations?open=${held.id}`, '.timeline li'],
    ['defer', `/operations?open=${held.id}`, '.timeline li', press('Defer…'), '.dialog'],
    ['reissue', `/operations?open=${dead.id}`, '.timeline li', press('Reissue…'), '.dialog'],
    ['bulk', '/operations?state=DEAD', '.row[data-id]', press('Act on all…'), '.dialog tbody tr'],
    ['documents', '/documents', '.row[data-id]'],
    ['document', `/documents?doc=${encodeURIComponent(committed.documentId)}`, '.timeline li'],
    ['watches', '/watches', '.row[data-id]'],
    ['watch', `/watches?open=${diverged.id}`, '.timeline li'],
    ['sweeps', '/sweeps', '.receipts .parts'],
    ['candidates', '/sweeps?view=candidates', '.row[data-id]'],
    ['sync', '/sync', '.row[data-id]'],
    ['hand-offs', '/sync?view=hand-offs', '.row[data-id]'],
    ['feed', '/feed', '.row[data-id]'],
    ['search', '/', '.plot .bar', (page) => page.keyboard.press('/').then(() => page.keyboard.type('event')), '.hits li'],
    ['keys', '/', '.plot .bar', (page) => page.keyboard.press('?'), '.keys'],
    ['settings', '/', '.plot .bar', press('Settings'), '.settings'],
    ['no such page', '/nothing', 'h1'],
  ];
}

// The phone's screens differ from the wide ones by their shape, the dark ones by their colours: a combination of both tells
// nothing more.
for (const [colorScheme, width, size] of [
  ['light', 1440, 'wide'],
  ['dark', 1440, 'wide'],
  ['light', 390, 'phone'],
]) {
  test(`axe finds nothing wrong on any screen, ${colorScheme}, ${size}`, async () => {
    const { page, wrongs } = await openPage('/', { colorScheme, viewport: { width, height: 900 } });
    const found = {};
    for (const [name, path, ready, open, opened] of screens()) {
      await go(page, path);
      await page.locator(ready).first().waitFor();
      await open?.(page);
      if (opened) await page.locator(opened).first().waitFor();
      const wrong = await violations(page);
      if (wrong.length > 0) found[name] = wrong;
      if (opened) await page.keyboard.press('Escape');
    }
    assert.deepEqual(found, {});
    assert.deepEqual(wrongs, []);
  });
}

// Goes on within the page, as its links do: it is not loaded again for each screen. The list that was there is gone first.
async function go(page, path) {
  await page.evaluate(() => history.pushState(null, '', '/nothing'));
  await page.getByText('There is no such page').waitFor();
  await page.evaluate((path) => history.pushState(null, '', path), path);
}
