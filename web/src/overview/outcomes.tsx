// What happened over time: how writes ended, and how checks did.
import { lazy, Suspense, useMemo, useState } from 'react';
import { read } from '../graphql/client';
import { OutcomesDocument } from '../graphql/generated';
import { useRefreshed } from '../live/useRefreshed';
import { Trouble } from '../ui/parts';
import { AN_HOUR, CHECKS, RANGES, spanOf, toBuckets, WRITES, type Bucket, type Series } from './series';

// Loaded after the numbers above it are there.
const Chart = lazy(() => import('./chart'));

const EVERY_MS = 15_000;

export function Outcomes() {
  const [range, setRange] = useState(AN_HOUR);
  const load = useMemo(
    () => async () => {
      const { from, to } = spanOf(range, Date.now());
      const asked = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), buckets: range.buckets };
      return { range, from, outcomes: (await read(OutcomesDocument, asked)).statistics.outcomes };
    },
    [range],
  );
  const options = useMemo(() => ({ everyMs: EVERY_MS }), []);
  const { value, error, reload } = useRefreshed(load, options);
  const buckets = (series: readonly Series[]): Bucket[] | undefined => value && toBuckets(value.outcomes, series, value.range, value.from);
  return (
    <section aria-labelledby="outcomes">
      <div className="heading">
        <h2 id="outcomes">Over time</h2>
        <div className="switch" role="group" aria-label="Over which time">
          {RANGES.map((one) => (
            <button
              key={one.name}
              type="button"
              aria-pressed={one === range}
              title={one.title}
              onClick={() => {
                setRange(one);
              }}
            >
              {one.name}
            </button>
          ))}
        </div>
      </div>
      {error !== undefined && <Trouble error={error} retry={reload} />}
      <div className="halves">
        <Panel title="Writes, by how an attempt ended" series={WRITES} buckets={buckets(WRITES)} bucketMs={range.bucketMs} />
        <Panel title="Checks, by what they found" series={CHECKS} buckets={buckets(CHECKS)} bucketMs={range.bucketMs} />
      </div>
    </section>
  );
}

interface PanelProps {
  title: string;
  series: readonly Series[];
  buckets: Bucket[] | undefined;
  bucketMs: number;
}

function Panel({ title, series, buckets, bucketMs }: PanelProps) {
  return (
    <figure className="sheet">
      <figcaption>
        <h3>{title}</h3>
        <ul className="legend">
          {series.map(({ key, name, tone }) => (
            <li key={key} data-tone={tone}>
              {name} <b>{(buckets ?? []).reduce((total, { counts }) => total + (counts[key] ?? 0), 0).toLocaleString('en')}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div className="chart">
        {buckets && (
          <Suspense fallback={null}>
            <Chart title={title} series={series} buckets={buckets} bucketMs={bucketMs} />
          </Suspense>
        )}
      </div>
    </figure>
  );
}
