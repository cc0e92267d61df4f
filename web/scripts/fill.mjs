// Fills a server with many operations through the API's bulk mutations, to see how the page does with them:
//
//   node web/scripts/fill.mjs --url http://127.0.0.1:4000 --operations 1000000
import { parseArgs } from 'node:util';
import { api, CLAIMS, claimMany, claimOf } from './api.mjs';

const BATCH = 500;
const AT_ONCE = 4;
// One in so many is given up, so that a filter has something to find.
const DEAD_PER_BATCH = 2;

const RECORD = 'mutation ($input: RecordOperationInput!) { recordOperation(input: $input) { outcome } }';

export async function fill(url, count, tell = () => undefined) {
  const request = api(url);
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const from = next;
      next += BATCH;
      const inputs = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => claimOf(from + index));
      if (inputs.length <= DEAD_PER_BATCH) await request(CLAIMS, { inputs });
      else await giveUp(request, (await claimMany(request, inputs)).slice(0, DEAD_PER_BATCH));
      tell(Math.min(next, count));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function giveUp(request, operations) {
  for (const { id, leaseToken, version } of operations) {
    await request(RECORD, { input: { id, leaseToken, version, toState: 'DEAD', kind: 'gone', httpStatus: 410 } });
  }
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: { url: { type: 'string', default: 'http://127.0.0.1:4000' }, operations: { type: 'string', default: '20000' } },
  });
  const begun = Date.now();
  let told = 0;
  await fill(values.url, Number(values.operations), (made) => {
    if (made - told < 50_000) return;
    told = made;
    process.stderr.write(`${made} operations after ${Math.round((Date.now() - begun) / 1000)} s\n`);
  });
}
