// Acts over a filter: what would be touched is shown first, each row has its result, and the rest can be left alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimMany } from '../../scripts/api.mjs';
import { claim, claimInput, failCheck, finalize, newConnector, openPage, record, request, until } from './support.mjs';

const count = (filter) => request('query ($filter: OperationFilter) { operations(filter: $filter) { totalCount } }', { filter }).then((data) => data.operations.totalCount);

test('dead operations are reissued, one is refused, and each says what came of it', async () => {
  const connector = newConnector();
  const operations = await claimMany(request, Array.from({ length: 5 }, () => claimInput(connector)));
  for (const operation of operations.slice(0, 4)) await record(operation, { toState: 'DEAD' });
  const reissue = 'mutation ($input: ReissueOperationInput!) { reissueOperation(input: $input) { outcome } }';
  await request(reissue, { input: { id: operations[0].id, version: 1, operationId: `${operations[0].operationId}-again`, leaseToken: 'a-worker', leaseMs: 60_000 } });

  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await page.getByRole('button', { name: 'Act on all…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The filter finds 4').waitFor();
  await dialog.getByText('4 would be touched').waitFor();
  await dialog.getByLabel('Why?').fill('the provider is well again');
  await dialog.getByRole('button', { name: 'Reissue all 4' }).click();
  await dialog.getByText('3 done, 1 not').waitFor();
  await dialog.getByText('It was reissued already.').waitFor();
  assert.equal(await dialog.locator('tbody tr').count(), 4);
  assert.equal(await count({ connectorName: connector, states: ['ATTEMPTED'] }), 5);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(wrongs, []);
});

test('what cannot be touched is left alone, and says why', async () => {
  const connector = newConnector();
  const nextAttemptAt = new Date(Date.now() + 3_600_000).toISOString();
  const [waits, held] = [await claim(connector), await claim(connector)];
  await record(waits, { toState: 'ATTEMPTED', nextAttemptAt });
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`);
  await page.getByRole('button', { name: 'Act on all…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Drive now').check();
  await dialog.getByText('1 would be touched and 1 left alone').waitFor();
  await dialog.getByRole('button', { name: 'Drive now all 2' }).click();
  await dialog.getByText('1 done, 1 not').waitFor();
  await dialog.locator('tr', { hasText: 'left alone' }).getByText(/due already|Somebody works on it/).waitFor();
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Operation { changes(last: 1) { nodes { transition } } } } }';
  const { nodes } = await request(query, { ids: [waits.id, held.id] });
  assert.deepEqual(nodes.map(({ changes }) => changes.nodes[0].transition), ['defer', 'claim']);
  assert.deepEqual(wrongs, []);
});

test('a run is cancelled: what was not reached is left alone', async () => {
  const connector = newConnector();
  const operations = await claimMany(request, Array.from({ length: 60 }, () => claimInput(connector, { leaseMs: 1_000 })));
  const nextAttemptAt = new Date(Date.now() + 3_600_000).toISOString();
  for (const operation of operations) await record(operation, { toState: 'ATTEMPTED', nextAttemptAt, deferReason: 'OFFLINE' });
  let acts = 0;
  const prepare = (page) =>
    page.route('**/graphql', async (route) => {
      // The server takes long for each, so that there is a rest to be cancelled.
      if (route.request().postData()?.includes('DeferOperation')) {
        acts += 1;
        if (acts > 12) await page.getByRole('button', { name: 'Cancel the rest' }).click();
      }
      await route.continue();
    });
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`, { prepare });
  await page.getByRole('button', { name: 'Act on all…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Drive now').check();
  await dialog.getByText('60 would be touched').waitFor();
  await dialog.getByRole('button', { name: 'Drive now all 60' }).click();
  await dialog.getByText('Cancelled: the rest was left alone.').waitFor();
  const waiting = await count({ connectorName: connector, deferReasons: ['OFFLINE'] });
  assert.ok(waiting > 0 && waiting < 60, `${waiting} still wait`);
  assert.deepEqual(wrongs, []);
});

test('watches are pulled again by the filter', async () => {
  const connector = newConnector();
  for (let made = 0; made < 3; made += 1) await failCheck(await finalize(await claim(connector)));
  const { page, wrongs } = await openPage(`/watches?status=REPAIR_FAILED&connector=${connector}`);
  await page.getByRole('button', { name: 'Act on all…' }).click();
  await page.getByRole('button', { name: 'Re-pull all 3' }).click();
  await page.getByRole('dialog').getByText('3 done, 0 not').waitFor();
  const pending = 'query ($filter: WatchFilter) { watches(filter: $filter) { totalCount } }';
  const filter = { connectorName: connector, statuses: ['PENDING_VERIFICATION'] };
  await until(() => request(pending, { filter }), ({ watches }) => watches.totalCount === 3, 'pending watches');
  assert.deepEqual(wrongs, []);
});
