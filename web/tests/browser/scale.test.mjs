// How the page does with many operations: 20,000 in a test run, 1,000,000 by `npm run test:scale`. Against a server that
// is filled already (scripts/fill.mjs), only what is missing is made.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fill } from '../../scripts/fill.mjs';
import { live, openPage, request, rows, server } from './support.mjs';

const OPERATIONS = Number(process.env.WRITEWATCH_SCALE_OPERATIONS ?? 20_000);
const FIRST_ROWS_MS = 1_000;
const FILTER_MS = 300;
const BLANK_MS = 100;

before(async () => {
  const { statistics } = await request('{ statistics { operationsByState { count } } }');
  const there = statistics.operationsByState.reduce((sum, { count }) => sum + count, 0);
  if (there < OPERATIONS) await fill(server, OPERATIONS - there, tellEvery(100_000));
});

function tellEvery(step) {
  let told = 0;
  return (made) => {
    if (made - told < step) return;
    told = made;
    console.log(`${made} operations made`);
  };
}

// Machines pause: the figure is the middle one of several.
function middle(figures) {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)];
}

test('the first rows are there within a second of the navigation', async () => {
  const figures = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const { page, context, wrongs } = await openPage('/operations');
    await rows(page).first().waitFor();
    figures.push(await page.evaluate(() => performance.now()));
    assert.deepEqual(wrongs, []);
    await context.close();
  }
  console.log(`first rows after ${figures.map(Math.round)} ms`);
  assert.ok(middle(figures) < FIRST_ROWS_MS, `${figures} ms`);
});

// Clicks a chip and waits, in the page, until the list was read anew and has only what the filter lets through.
async function filterBy(page, chip, wanted) {
  return page.evaluate(
    ([chip, wanted]) =>
      new Promise((resolve) => {
        const table = document.querySelector('.rows');
        const begun = performance.now();
        let read = false;
        const observer = new MutationObserver(() => {
          const busy = table.getAttribute('aria-busy') === 'true';
          read ||= busy;
          const badges = [...table.querySelectorAll('.row .badge')];
          if (busy || !read || badges.length === 0 || !badges.every((badge) => wanted.includes(badge.textContent))) return;
          observer.disconnect();
          requestAnimationFrame(() => resolve(performance.now() - begun));
        });
        observer.observe(table, { subtree: true, childList: true, attributes: true, characterData: true });
        [...document.querySelectorAll('.chip')].find((one) => one.textContent === chip).click();
      }),
    [chip, wanted],
  );
}

test('a change of the filter shows its rows within 300 ms', async () => {
  const { page, wrongs } = await openPage('/operations?state=ATTEMPTED');
  await live(page);
  await rows(page).first().waitFor();
  const figures = [];
  for (let turn = 0; turn < 3; turn += 1) {
    figures.push(await filterBy(page, 'dead', ['attempted', 'dead']));
    figures.push(await filterBy(page, 'attempted', ['dead']));
    figures.push(await filterBy(page, 'attempted', ['attempted', 'dead']));
    figures.push(await filterBy(page, 'dead', ['attempted']));
  }
  console.log(`filter changes took ${figures.map(Math.round)} ms`);
  assert.ok(middle(figures) < FILTER_MS, `${figures} ms`);
  assert.deepEqual(wrongs, []);
});

test('scrolling shows rows all along: no blank lasts over 100 ms', async () => {
  const { page, wrongs } = await openPage('/operations');
  await live(page);
  await rows(page).first().waitFor();
  const { longestMs, seen } = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const table = document.querySelector('.rows');
        const box = table.getBoundingClientRect();
        const [middle, low] = [box.top + box.height / 2, box.bottom - 30];
        const filled = (y) => document.elementFromPoint(box.left + 300, y)?.closest('.row:not(.skeleton)') != null;
        const begun = performance.now();
        let [last, blankSince, longestMs] = [begun, undefined, 0];
        // As fast as a wheel is spun: some 80 rows a second.
        const step = (now) => {
          table.scrollTop += (3_600 * (now - last)) / 1_000;
          last = now;
          if (filled(middle) && filled(low)) blankSince = undefined;
          else blankSince ??= now;
          if (blankSince !== undefined) longestMs = Math.max(longestMs, now - blankSince);
          const rows = [...table.querySelectorAll('.row[data-index]')];
          if (now - begun < 6_000) requestAnimationFrame(step);
          else resolve({ longestMs, seen: Number(rows.at(-1)?.dataset.index) });
        };
        requestAnimationFrame(step);
      }),
  );
  console.log(`scrolled to row ${seen}; the longest blank lasted ${Math.round(longestMs)} ms`);
  assert.ok(seen > 300, `scrolled to row ${seen}`);
  assert.ok(longestMs < BLANK_MS, `a blank of ${longestMs} ms`);
  assert.deepEqual(wrongs, []);
});

// The ids of the rows in sight from top to bottom, with their places.
function inSight(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll('.row[data-index]')]
      .map(({ dataset }) => [Number(dataset.index), dataset.id])
      .sort(([one], [other]) => one - other),
  );
}

const ROW_PX = 44;
// Further than the 3,000 rows that the page keeps, by steps that are looked at both ways.
const FAR = 3_800;
const STEP = 190;

// Scrolls until that row is there: what is not read yet cannot be scrolled to.
async function scrollTo(page, index) {
  await page.waitForFunction(
    ([index, top]) => {
      document.querySelector('.rows').scrollTo({ top });
      return document.querySelector(`.row[data-index="${index}"]`) !== null;
    },
    [index, index * ROW_PX],
  );
}

test('whoever scrolls past what the page keeps finds every row in its place, down and up again', async () => {
  const { page, wrongs } = await openPage('/operations?sort=created_asc');
  await live(page);
  await rows(page).first().waitFor();
  const down = new Map(await inSight(page));
  for (let index = STEP; index <= FAR; index += STEP) {
    await scrollTo(page, index);
    for (const [place, id] of await inSight(page)) down.set(place, id);
  }
  const up = new Map();
  for (let index = FAR; index >= 0; index -= STEP) {
    await scrollTo(page, index);
    for (const [place, id] of await inSight(page)) up.set(place, id);
  }
  assert.ok(up.has(0) && up.size > 500, `${up.size} rows on the way up`);
  for (const [index, id] of up) if (down.has(index)) assert.equal(id, down.get(index), `row ${index}`);
  assert.equal(new Set(up.values()).size, up.size, 'each row once');
  const { operations } = await request('{ operations(orderBy: CREATED_ASC, first: 1) { nodes { id } } }');
  assert.equal(up.get(0), operations.nodes[0].id);
  assert.deepEqual(wrongs, []);
});
