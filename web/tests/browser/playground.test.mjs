// The playground: a query and a subscription, with nothing from outside.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEADLINE_MS, claim, newConnector, openPage, withBrowser } from './support.mjs';

test('GraphiQL runs a query and a subscription on this server', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const before = await claim(connector);
    const { page, wrongs } = await openPage(browser, '/playground', { viewport: { width: 1400, height: 1000 } });
    const answer = page.locator('.graphiql-response');
    const run = page.getByRole('button', { name: 'Execute query' });

    // GraphiQL takes a click before its editor is there, and does nothing with it.
    await page.locator('.graphiql-query-editor').getByText('LatestOperations').waitFor();
    const shown = answer.getByText(before.operationId);
    const deadline = Date.now() + DEADLINE_MS;
    do {
      await run.click();
      await shown.waitFor({ timeout: 2_000 }).catch(() => undefined);
    } while (!(await shown.isVisible()) && Date.now() < deadline);
    assert.ok(await shown.isVisible(), 'the answer shows the claimed operation');

    await page.getByRole('tab', { name: 'Changes' }).click();
    await run.click();
    await page.getByRole('button', { name: 'Stop query' }).waitFor();
    // The subscription may begin after a first claim: claim until it tells of one.
    const told = answer.getByText('"OPERATION"').first().waitFor();
    let waiting = true;
    const claiming = (async () => {
      while (waiting) await claim(connector);
    })();
    await told.finally(() => (waiting = false));
    await claiming;
    await page.getByRole('button', { name: 'Stop query' }).click();
    assert.deepEqual(wrongs, []);
  }));
