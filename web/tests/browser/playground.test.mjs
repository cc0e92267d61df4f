// The playground: a query and a subscription, with nothing from outside.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEADLINE_MS, claim, newConnector, openPage, openTab } from './support.mjs';

test('GraphiQL runs a query and a subscription on this server', async () => {
  const connector = newConnector();
  const before = await claim(connector);
  const { page, wrongs } = await openPage('/playground', { viewport: { width: 1400, height: 1000 } });
  const answer = page.locator('.graphiql-response');
  const run = page.getByRole('button', { name: 'Execute query' });

  // GraphiQL takes a click before its editor is there, or while it still has another tab's operation in mind, and shows
  // nothing for it.
  const runUntil = async (shown) => {
    const deadline = Date.now() + DEADLINE_MS;
    while (!(await shown.isVisible()) && Date.now() < deadline) {
      await run.click({ timeout: 2_000 }).catch(() => undefined);
      await shown.waitFor({ timeout: 2_000 }).catch(() => undefined);
    }
    assert.ok(await shown.isVisible(), `shown: ${shown}`);
  };
  const editor = page.locator('.graphiql-query-editor');
  await editor.getByText('LatestOperations').waitFor();
  await runUntil(answer.getByText(before.operationId));

  await openTab(page, 'Changes', 'subscription');
  const stop = page.getByRole('button', { name: 'Stop query' });
  await runUntil(stop);
  // The subscription may begin after a first claim, and what was stopped may be another tab's: run until it follows, and
  // claim until it tells.
  const told = answer.getByText('"OPERATION"').first().waitFor();
  let waiting = true;
  const claiming = (async () => {
    while (waiting) {
      if (!(await stop.isVisible())) await run.click({ timeout: 2_000 }).catch(() => undefined);
      await claim(connector);
    }
  })();
  await told.finally(() => (waiting = false));
  await claiming;
  await stop.click();
  assert.deepEqual(wrongs, []);
});
