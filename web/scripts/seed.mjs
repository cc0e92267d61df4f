// Fills a server with a little of everything that the page shows, through its API: what a busy week leaves behind.
//
//   node web/scripts/seed.mjs --url http://127.0.0.1:4000
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { api, claimMany, claimOf, inMs, OWNERS } from './api.mjs';

const MINUTE = 60_000;

function hlc(ms) {
  return `${String(Date.now() + ms).padStart(13, '0')}-0000-node1`;
}

export async function seed(url, headers) {
  const request = api(url, headers);
  const operations = await claimMany(
    request,
    Array.from({ length: 120 }, (_, number) => claimOf(number, number % 3 === 0 ? { reissueIntent: intentOf(number) } : {})),
  );
  await settle(request, operations);
  await verify(request, operations.slice(0, 60));
  await documents(request, operations);
  await sweeps(request);
  await syncs(request);
  return operations;
}

function intentOf(number) {
  return { title: `Meeting ${String(number)}`, start: '2030-01-31T09:00:00Z', attendees: ['ada@example.org', 'grace@example.org'], reminders: [{ minutes: 10 }] };
}

const FINALIZE = `mutation ($input: FinalizeOperationInput!) { finalizeOperation(input: $input) { outcome watch { id generation } } }`;
const RECORD = `mutation ($input: RecordOperationInput!) { recordOperation(input: $input) { outcome } }`;
const MARK = `mutation ($input: MarkSendStartedInput!) { markSendStarted(input: $input) { outcome } }`;
const RELEASE = `mutation ($input: ReleaseLeaseInput!) { releaseLease(input: $input) { outcome } }`;
const RENEW = `mutation ($input: LeaseInput!) { renewLease(input: $input) { outcome } }`;

// What becomes of each: most are committed, some wait, some are in doubt, some are given up, some are in work.
async function settle(request, operations) {
  for (const [index, operation] of operations.entries()) {
    const { id, leaseToken, version, documentId } = operation;
    const record = (more) => request(RECORD, { input: { id, leaseToken, version, ...more } });
    if (index < 60) {
      await request(MARK, { input: { id, leaseToken, marker: randomUUID() } });
      const input = { id, leaseToken, version, documentId, sourceId: `src-${String(index)}`, winnerDigest: `digest-${String(index)}`, resultEntity: { id: `src-${String(index)}`, etag: `"${String(index)}"` } };
      operation.watch = (await request(FINALIZE, { input })).finalizeOperation.watch;
    } else if (index < 72) await record({ toState: 'ATTEMPTED', kind: 'rate_limited', httpStatus: 429, nextAttemptAt: inMs((index - 58) * 7 * MINUTE) });
    else if (index < 80) await record({ toState: 'ATTEMPTED', kind: 'unreachable', deferReason: 'OFFLINE', nextAttemptAt: inMs(30 * MINUTE) });
    else if (index < 86) await record({ toState: 'ATTEMPTED', kind: 'token_revoked', httpStatus: 401, deferReason: 'AUTH', nextAttemptAt: inMs(240 * MINUTE) });
    else if (index < 92) await record({ toState: 'RECONCILE_ONLY', kind: 'timeout', httpStatus: 504 });
    else if (index < 102) await record({ toState: 'DEAD', kind: index % 2 ? 'forbidden' : 'gone', httpStatus: index % 2 ? 403 : 410, note: 'The provider refuses it for good.' });
    else if (index < 108) await request(RENEW, { input: { id, leaseToken, leaseMs: 20 * MINUTE } });
    else if (index < 111) await request(MARK, { input: { id, leaseToken, marker: randomUUID() } });
    if (index >= 60 && index < 102) await request(RELEASE, { input: { id, leaseToken } });
  }
}

const CLAIM_ATTEMPT = `mutation ($input: ClaimWatchAttemptInput!) { claimWatchAttempt(input: $input) { outcome claimedUntil } }`;
const VERIFY = `mutation ($input: RecordVerificationInput!) { recordVerification(input: $input) { outcome } }`;

async function verify(request, operations) {
  for (const [index, { watch }] of operations.entries()) {
    if (index >= 50) continue;
    const { id, generation } = watch;
    const { claimedUntil } = (await request(CLAIM_ATTEMPT, { input: { id, generation, claimMs: 20 * MINUTE } })).claimWatchAttempt;
    if (index >= 46) continue;
    const fetchedDigest = index < 34 ? `digest-${String(index)}` : 'something-else';
    const maxAttempts = index < 40 ? 5 : 1;
    await request(VERIFY, { input: { id, generation, claimedUntil, fetchedDigest, maxAttempts, dueAt: inMs(index * MINUTE) } });
  }
}

async function documents(request, operations) {
  const [first, second, third] = operations.map(({ documentId }) => documentId);
  await request(`mutation ($input: EntityTrimInput!) { setEntityTrim(input: $input) { trim { documentId } } }`, {
    input: { documentId: first, ownerDid: OWNERS[0], connectorName: 'calendar', trimmedFields: { description: 'longer than 8,192 characters' } },
  });
  await request(`mutation ($input: ObservationRepairInput!) { putObservationRepair(input: $input) { repair { documentId } } }`, {
    input: { documentId: first, owner: OWNERS[0], fetchHlc: hlc(-2 * MINUTE), decisionHlc: hlc(-MINUTE), present: true, valueDigest: 'digest-of-the-repair' },
  });
  await request(`mutation ($input: RecordWinnerInput!) { recordWinner(input: $input) { outcome } }`, { input: { documentId: second, digest: 'digest-moved-on' } });
  // A second write of a document that is written.
  const [again] = await claimMany(request, [claimOf(2, { documentId: third, op: 'UPDATE' })]);
  await request(RECORD, { input: { id: again.id, leaseToken: again.leaseToken, version: 0, toState: 'DEAD', kind: 'conflict', httpStatus: 409 } });
}

const RECEIPT = `mutation ($input: RelistReceiptInput!) { recordRelistReceipt(input: $input) { outcome } }`;
const FINDING = `mutation ($inputs: [SweepOutcomeInput!]!) { recordSweepOutcomes(inputs: $inputs) { outcome } }`;
const APPLIED = `mutation ($input: SweepCandidateKeyInput!) { markSweepCandidateApplied(input: $input) { outcome } }`;
const FAILURE = `mutation ($input: SweepApplyFailureInput!) { recordSweepApplyFailure(input: $input) { outcome } }`;
const COMMIT = `mutation ($input: SweepReceiptKeyInput!) { commitSweepCheckpoint(input: $input) { outcome } }`;

async function sweeps(request) {
  for (const [index, partition] of ['calendars/primary', 'calendars/team', 'people'].entries()) {
    const key = { ownerDid: OWNERS[index], connectorName: index === 2 ? 'contacts' : 'calendar', partition };
    await relist(request, { ...key, provenance: `relist-${partition}-1` }, { documents: 6, done: true });
    await relist(request, { ...key, provenance: `relist-${partition}-2` }, { documents: 14 + index * 9, done: false });
  }
}

async function relist(request, key, { documents, done }) {
  const candidates = Array.from({ length: documents }, (_, number) => ({
    documentId: `gone:${key.provenance}:${String(number)}`,
    sourceId: `src-${key.provenance}-${String(number)}`,
    modelId: 'event',
  }));
  const receipt = { ...key, modelId: 'event', scope: { window: '2030' }, keep: { count: 1_204 }, sourceFetchHlc: hlc(-MINUTE), kind: 'full', complete: true, candidates };
  await request(RECEIPT, { input: receipt });
  const found = done ? candidates : candidates.slice(0, Math.ceil(documents * 0.7));
  const inputs = found.map(({ documentId }, number) => ({ ...key, documentId, outcome: ['ABSENT', 'PRESENT', 'ABSENT', 'CANCELLED'][number % 4] }));
  await request(FINDING, { inputs });
  const applied = done ? candidates : candidates.slice(0, Math.floor(documents * 0.4));
  for (const { documentId } of applied) await request(APPLIED, { input: { ...key, documentId } });
  if (done) {
    await request(COMMIT, { input: key });
    return;
  }
  const refused = candidates.at(-1).documentId;
  for (let failure = 0; failure < 5; failure += 1) {
    await request(FAILURE, { input: { ...key, documentId: refused, lastError: 'UNIQUE constraint failed: document.source_id (another document has this source)' } });
  }
  const failed = candidates.at(-2).documentId;
  await request(FAILURE, { input: { ...key, documentId: failed, lastError: 'database is locked', nextAttemptAt: inMs(5 * MINUTE) } });
}

async function syncs(request) {
  const set = `mutation ($input: SetSyncStateInput!) { setSyncState(input: $input) { outcome } }`;
  for (const [index, ownerDid] of OWNERS.entries()) {
    for (const connectorName of ['calendar', 'contacts']) {
      const status = ['IDLE', 'SYNCING', 'IDLE', 'ERROR'][(index + connectorName.length) % 4];
      const error = status === 'ERROR' ? 'HTTP 410: the sync token is no longer valid, a full relist is needed' : null;
      await request(set, { input: { connectorName, ownerDid, status, error, entityCount: 1_204 + index * 317, lastSyncedAt: inMs(-index * 11 * MINUTE), checkpoint: { syncToken: `token-${String(index)}`, page: index }, recovery: error && { mode: 'relist' } } });
    }
  }
  const pending = `mutation ($input: CreatePendingAuthInput!) { createPendingAuth(input: $input) { outcome } }`;
  for (const [index, ownerDid] of OWNERS.slice(0, 4).entries()) {
    await request(pending, { input: { state: randomUUID(), codeVerifier: randomUUID(), provider: ['google', 'microsoft'][index % 2], ownerDid, redirectUrl: 'https://connector.example/auth/callback', scopes: ['calendar.events', 'contacts.readonly'].slice(0, 1 + (index % 2)), incremental: index % 2 === 1, expiresAt: inMs((index + 1) * 4 * MINUTE) } });
  }
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { url: { type: 'string', default: 'http://127.0.0.1:4000' } } });
  await seed(values.url);
}
