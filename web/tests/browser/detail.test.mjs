// The panel: one operation in full, live, and out of the way again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim, finalize, live, newConnector, openPage, row, violations, withBrowser } from './support.mjs';

test('an operation opens by keyboard, follows its changes, and closes by Escape', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const operation = await claim(connector);
    const { page, wrongs } = await openPage(browser, `/?connector=${connector}`);
    await live(page);
    await row(page, operation.id).locator('.opener').focus();
    await page.keyboard.press('Enter');

    const panel = page.getByRole('complementary');
    await panel.getByText(/held, ends in/).waitFor();
    await panel.getByText(operation.operationId, { exact: true }).waitFor();
    assert.equal(await panel.locator('.timeline > li').count(), 1);
    await finalize(operation);
    await panel.locator('.standing').getByText('committed').waitFor();
    assert.equal(await panel.locator('.timeline > li').count(), 2);

    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('open'), null);
    assert.equal(await row(page, operation.id).locator('.opener:focus').count(), 1, 'the focus is back where it was');
    assert.deepEqual(wrongs, []);
  }));

test('a lease that ends is seen to end, though nothing tells of it', () =>
  withBrowser(async (browser) => {
    const connector = newConnector();
    const { page, wrongs } = await openPage(browser, `/?connector=${connector}`);
    await live(page);
    // Long enough for a slow machine to open the panel, short enough to wait for its end.
    const operation = await claim(connector, 8_000);
    await row(page, operation.id).locator('.opener').click();
    await page.getByText(/^held, ends in/).waitFor();
    await page.getByText(/anyone may take it/).waitFor();
    assert.deepEqual(wrongs, []);
  }));

for (const colorScheme of ['light', 'dark']) {
  for (const [width, size] of [
    [1440, 'wide'],
    [390, 'phone'],
  ]) {
    test(`axe finds nothing wrong, ${colorScheme}, ${size}`, () =>
      withBrowser(async (browser) => {
        const connector = newConnector();
        const operation = await claim(connector);
        const { watch } = await finalize(await claim(connector));
        const options = { colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' };
        const { page, wrongs } = await openPage(browser, `/?connector=${connector}`, options);
        await live(page);
        await row(page, operation.id).waitFor();
        const found = { operations: await violations(page) };
        for (const [name, path, ready] of [
          ['none', '/?connector=nobody', '.empty'],
          ['operation', `/?connector=${connector}&open=${operation.id}`, '.timeline li'],
          ['watches', `/watches?connector=${connector}&open=${watch.id}`, '.timeline li'],
          ['feed', '/feed', 'tbody tr'],
        ]) {
          await page.goto(new URL(path, page.url()).href);
          await page.locator(ready).first().waitFor();
          found[name] = await violations(page);
        }
        assert.deepEqual(found, { operations: [], none: [], operation: [], watches: [], feed: [] });
        assert.deepEqual(wrongs, []);
      }));
  }
}
