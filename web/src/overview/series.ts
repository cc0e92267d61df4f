// What happened over a time, from the server's parts to the series of the two charts.
import type { OutcomesQuery } from '../graphql/generated';
import type { Tone } from '../ui/words';

export interface Series {
  key: string;
  name: string;
  tone: Tone;
  transition: string;
  toState: string;
}

// The lowest of a bar first.
export const WRITES: readonly Series[] = [
  { key: 'committed', name: 'committed', tone: 'good', transition: 'finalize', toState: 'COMMITTED' },
  { key: 'retry', name: 'to be tried again', tone: 'busy', transition: 'record', toState: 'ATTEMPTED' },
  { key: 'reconcile', name: 'needs reconcile', tone: 'look', transition: 'record', toState: 'RECONCILE_ONLY' },
  { key: 'dead', name: 'dead', tone: 'bad', transition: 'record', toState: 'DEAD' },
];

export const CHECKS: readonly Series[] = [
  { key: 'verified', name: 'verified', tone: 'good', transition: 'record_verification', toState: 'VERIFIED' },
  { key: 'again', name: 'differed, to be checked again', tone: 'busy', transition: 'record_verification', toState: 'PENDING_VERIFICATION' },
  { key: 'diverged', name: 'diverged', tone: 'bad', transition: 'record_verification', toState: 'REPAIR_FAILED' },
];

export interface Range {
  name: string;
  title: string;
  buckets: number;
  bucketMs: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const AN_HOUR: Range = { name: '1 h', title: 'the last hour', buckets: 60, bucketMs: MINUTE };

// Whole minutes or hours, because busy times are counted by these.
export const RANGES: readonly Range[] = [
  { name: '15 min', title: 'the last 15 minutes', buckets: 15, bucketMs: MINUTE },
  AN_HOUR,
  { name: '24 h', title: 'the last 24 hours', buckets: 48, bucketMs: HOUR / 2 },
  { name: '7 d', title: 'the last 7 days', buckets: 84, bucketMs: 2 * HOUR },
];

export interface Bucket {
  // When it begins.
  at: number;
  counts: Readonly<Record<string, number>>;
}

export function spanOf({ buckets, bucketMs }: Range, now: number): { from: number; to: number } {
  const to = Math.ceil((now + 1) / bucketMs) * bucketMs;
  return { from: to - buckets * bucketMs, to };
}

export function toBuckets(
  outcomes: OutcomesQuery['statistics']['outcomes'],
  series: readonly Series[],
  range: Range,
  from: number,
): Bucket[] {
  const counts = Array.from({ length: range.buckets }, () => Object.fromEntries(series.map(({ key }) => [key, 0])));
  for (const { from: begin, transition, toState, count } of outcomes) {
    const place = counts[Math.floor((Date.parse(begin) - from) / range.bucketMs)];
    const found = series.find((one) => one.transition === transition && one.toState === toState?.toUpperCase());
    if (place && found) place[found.key] = (place[found.key] ?? 0) + count;
  }
  return counts.map((counts, index) => ({ at: from + index * range.bucketMs, counts }));
}
