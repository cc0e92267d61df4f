// Where only listed documents run: the page's own are all it needs.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CLAIM, claimInput, launch, post } from '../door/support.mjs';
import { live, newConnector, openPage, row } from './support.mjs';

test('the page does its work on a server that runs its documents only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writewatch-documents.'));
  const file = join(folder, 'documents.json');
  const made = spawnSync('node', [new URL('../../scripts/persist.mjs', import.meta.url).pathname, file], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  // The worker's one document beside them.
  const listed = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...listed, [createHash('sha256').update(CLAIM).digest('hex')]: CLAIM }));
  const own = await launch(['--persisted-documents', file]);
  try {
    const connectorName = newConnector();
    const { page, wrongs } = await openPage(`/operations?connector=${connectorName}`, { origin: own.url });
    await live(page);
    const input = claimInput({ connectorName, documentId: randomUUID() });
    const { id } = (await post({ query: CLAIM, variables: { input } }, {}, own.graphql)).body.data.claimOperation.operation;
    await row(page, id).getByText('attempted').waitFor();
    await row(page, id).locator('.opener').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByText(input.operationId, { exact: true }).waitFor();
    for (const view of ['Watches', 'Feed']) {
      await page.getByRole('link', { name: view }).click();
      await live(page);
    }
    await page.locator('.row', { hasText: connectorName }).first().waitFor();
    assert.deepEqual(wrongs, []);
    const { body } = await post({ query: '{ viewer { did } }' }, {}, own.graphql);
    assert.equal(body.errors[0].extensions.code, 'FORBIDDEN');
  } finally {
    own.clear();
    rmSync(folder, { recursive: true, force: true });
  }
});
