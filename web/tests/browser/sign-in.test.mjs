// Who may use the page, and what is offered to whom. A server without access control stands behind a door here that asks
// for a token as one with it does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim, live, newConnector, openPage, record, row, until, violations } from './support.mjs';

const TOKEN = 'a-token-that-is-good';

// Lets through what carries the token, by HTTP and by WebSocket; what the server answers of the viewer may be set.
function door({ accepted = () => TOKEN, viewer } = {}) {
  return async (page) => {
    await page.context().route('**/graphql', async (route) => {
      const sent = route.request();
      if (sent.headers().authorization !== `Bearer ${accepted()}`) {
        const errors = [{ message: 'a token is needed', extensions: { code: 'UNAUTHENTICATED' } }];
        await route.fulfill({ status: 401, contentType: 'application/graphql-response+json', body: JSON.stringify({ errors }) });
      } else if (viewer && sent.postData()?.includes('query Start')) {
        await route.fulfill({ contentType: 'application/graphql-response+json', body: JSON.stringify({ data: { viewer, changes: { pageInfo: { endCursor: null } } } }) });
      } else await route.continue();
    });
    await page.context().routeWebSocket('**/graphql', (socket) => {
      const upstream = socket.connectToServer();
      socket.onMessage((message) => {
        const { type, payload } = JSON.parse(message);
        if (type === 'connection_init' && payload?.authorization !== `Bearer ${accepted()}`) socket.close({ code: 4403, reason: 'Forbidden' });
        else upstream.send(message);
      });
    });
  };
}

// The browser itself tells of each answer with this status.
const expected = (wrongs) => wrongs.filter((wrong) => !wrong.includes('401'));

async function signIn(page, token) {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('with open access nobody signs in, and everything is offered', async () => {
  const operation = await claim(newConnector());
  await record(operation, { toState: 'DEAD' });
  const { page, wrongs } = await openPage(`/operations?open=${operation.id}`);
  const reissue = page.getByRole('button', { name: 'Reissue…' });
  await reissue.waitFor();
  assert.equal(await reissue.getAttribute('aria-disabled'), 'false');
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByText('Open access').waitFor();
  assert.deepEqual(wrongs, []);
});

test('a token is asked for, refused, taken, and goes with every request and with the socket', async () => {
  const connector = newConnector();
  const { page, wrongs } = await openPage(`/operations?connector=${connector}`, { prepare: door() });
  await signIn(page, 'another');
  await page.getByText('does not accept this token').waitFor();
  assert.deepEqual(await violations(page), []);
  await signIn(page, TOKEN);
  await live(page);
  // The pointer is where the button was, which now is in the list, and would hold it.
  await page.mouse.move(5, 5);
  const operation = await claim(connector);
  await row(page, operation.id).waitFor();
  assert.deepEqual(await page.evaluate(() => [localStorage.length, sessionStorage.length]), [0, 0], 'nothing is stored');
  assert.deepEqual(expected(wrongs), []);
});

test('another tab, like the playground, gets the token of the first; a tab alone has to ask', async () => {
  const { page, context, wrongs } = await openPage('/', { prepare: door() });
  await signIn(page, TOKEN);
  await live(page);
  const [playground] = await Promise.all([context.waitForEvent('page'), page.getByRole('link', { name: /Playground/ }).click()]);
  await playground.locator('.graphiql-query-editor').getByText('LatestOperations').waitFor();
  // A click before the editor is ready shows nothing.
  await until(
    async () => {
      await playground.getByRole('button', { name: 'Execute query' }).click();
      return playground.locator('.graphiql-response').textContent();
    },
    (answer) => answer.includes('"operations"'),
    'the answer in the playground',
  );
  await playground.close();
  await page.reload();
  await page.getByLabel('Token').waitFor();
  assert.deepEqual(expected(wrongs), []);
});

test('a token that is not accepted any more is asked for again', async () => {
  let accepted = TOKEN;
  const { page, wrongs } = await openPage('/operations', { prepare: door({ accepted: () => accepted }) });
  await signIn(page, TOKEN);
  await live(page);
  accepted = 'a-newer-one';
  await page.getByRole('button', { name: 'dead', exact: true }).click();
  await page.getByText('Your token is not accepted any more').waitFor();
  await signIn(page, accepted);
  await live(page);
  assert.deepEqual(expected(wrongs), []);
});

test('what the viewer’s roles do not allow is not offered, and says why', async () => {
  const operation = await claim(newConnector());
  await record(operation, { toState: 'DEAD' });
  const viewer = { did: 'did:example:somebody', roles: [] };
  const closed = [];
  const prepare = async (page) => {
    page.on('websocket', (socket) => closed.push(socket.waitForEvent('close')));
    await door({ viewer })(page);
  };
  const { page, wrongs } = await openPage(`/operations?open=${operation.id}`, { prepare });
  await signIn(page, TOKEN);
  await page.getByText('Only its caller, a service or an operator may do this. You are none of them.').waitFor();
  for (const name of ['Drive now…', 'Defer…', 'Reissue…', 'Mark dead…']) {
    assert.equal(await page.getByRole('button', { name }).getAttribute('aria-disabled'), 'true', name);
  }
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByText('none beside your own').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  assert.equal(closed.length, 1);
  await closed[0];
  assert.deepEqual(expected(wrongs), []);
});
