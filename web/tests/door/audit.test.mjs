// GraphQL over HTTP as its own audit suite sees it: all of it, the optional parts too.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditServer } from 'graphql-http';
import { endpoint } from './support.mjs';

test('the graphql-http audits are all passed', async () => {
  const results = await auditServer({ url: endpoint });
  const failed = results.filter(({ status }) => status !== 'ok').map(({ id, name, reason }) => `${id} ${name}: ${reason}`);
  assert.deepEqual(failed, []);
  assert.equal(results.length, 61, 'another version of the suite: look at what it added');
});
