// Stacked bars over time. The colours are classes, so that they follow the scheme; the numbers of a bar show when it is
// pointed at, and all of them are in the table beneath it.
import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { BarStack } from '@visx/shape';
import { useRef, useState } from 'react';
import { useWidth } from '../ui/useWidth';
import { usePreferences, zoneOf } from '../ui/preferences';
import { compact } from '../ui/words';
import type { Bucket, Series } from './series';

interface Props {
  title: string;
  series: readonly Series[];
  buckets: readonly Bucket[];
  bucketMs: number;
}

const HEIGHT = 180;
const MARGIN = { top: 8, right: 8, bottom: 24, left: 44 };
const INNER_HEIGHT = HEIGHT - MARGIN.top - MARGIN.bottom;
const PX_PER_LABEL = 90;
const DAY = 86_400_000;

export default function Chart({ title, series, buckets, bucketMs }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box, 0);
  const [pointed, setPointed] = useState<number>();
  const label = useMoment(bucketMs * buckets.length > DAY * 2);
  const inner = Math.max(0, width - MARGIN.left - MARGIN.right);
  const most = Math.max(1, ...buckets.map(totalOf));
  const x = scaleBand({ domain: buckets.map(({ at }) => at), range: [0, inner], padding: 0.2 });
  const y = scaleLinear({ domain: [0, most], range: [INNER_HEIGHT, 0], nice: true });
  const ticks = y.ticks(3).filter(Number.isInteger);
  const bucket = pointed === undefined ? undefined : buckets[pointed];
  return (
    <div ref={box} className="plot">
      <svg width={width} height={HEIGHT} role="img" aria-label={`${title}: the numbers are in the table below`}>
        <g transform={`translate(${String(MARGIN.left)},${String(MARGIN.top)})`}>
          {ticks.map((tick) => (
            <line key={tick} className="grid" x1={0} x2={inner} y1={y(tick)} y2={y(tick)} />
          ))}
          <Bars series={series} buckets={buckets} x={x} y={y} />
          <Columns buckets={buckets} x={x} pointed={pointed} onPoint={setPointed} />
          <Axes buckets={buckets} x={x} y={y} ticks={ticks} width={inner} label={label} />
        </g>
      </svg>
      {bucket && (
        <div className="tip" style={tipPlace(MARGIN.left + (x(bucket.at) ?? 0), width)}>
          <b>{label(bucket.at)}</b>
          {series.map(({ key, name, tone }) => (
            <span key={key} data-tone={tone}>
              {name} <b>{bucket.counts[key]?.toLocaleString('en')}</b>
            </span>
          ))}
        </div>
      )}
      <Numbers title={title} series={series} buckets={buckets} label={label} />
    </div>
  );
}

type X = ReturnType<typeof scaleBand<number>>;
type Y = ReturnType<typeof scaleLinear<number>>;

function Bars({ series, buckets, x, y }: { series: readonly Series[]; buckets: readonly Bucket[]; x: X; y: Y }) {
  return (
    <BarStack
      data={buckets.map(({ at, counts }) => ({ at, ...counts }))}
      keys={series.map(({ key }) => key)}
      x={({ at }) => at}
      value={(row, key) => (row as Record<string, number>)[key] ?? 0}
      xScale={x}
      yScale={y}
      color={() => 'none'}
    >
      {(stacks) =>
        stacks.flatMap(({ key, bars }) =>
          bars
            .filter(({ height }) => height > 0)
            .map(({ index, ...box }) => (
              <rect
                key={`${key}-${String(index)}`}
                className="bar"
                data-tone={series.find((one) => one.key === key)?.tone}
                x={box.x}
                y={box.y}
                width={box.width}
                height={box.height}
              />
            )),
        )
      }
    </BarStack>
  );
}

interface ColumnsProps {
  buckets: readonly Bucket[];
  x: X;
  pointed: number | undefined;
  onPoint: (index: number | undefined) => void;
}

// The whole height of a part of the time is what is pointed at, however low its bar is.
function Columns({ buckets, x, pointed, onPoint }: ColumnsProps) {
  return buckets.map(({ at }, index) => (
    <rect
      key={at}
      className="pointer"
      data-pointed={index === pointed || undefined}
      x={(x(at) ?? 0) - (x.step() - x.bandwidth()) / 2}
      y={0}
      width={x.step()}
      height={INNER_HEIGHT}
      onPointerEnter={() => {
        onPoint(index);
      }}
      onPointerLeave={() => {
        onPoint(undefined);
      }}
    />
  ));
}

interface AxesProps {
  buckets: readonly Bucket[];
  x: X;
  y: Y;
  // Things are counted, so no tick is between two whole numbers.
  ticks: number[];
  width: number;
  label: (at: number) => string;
}

function Axes({ buckets, x, y, ticks, width, label }: AxesProps) {
  const every = Math.max(1, Math.ceil((buckets.length * PX_PER_LABEL) / Math.max(width, 1)));
  const labelled = buckets.map(({ at }) => at).filter((_, index) => index % every === 0);
  return (
    <>
      <AxisLeft scale={y} tickValues={ticks} tickFormat={(tick) => compact(Number(tick))} hideAxisLine hideTicks />
      <AxisBottom top={INNER_HEIGHT} scale={x} tickValues={labelled} tickFormat={label} hideTicks />
    </>
  );
}

function tipPlace(left: number, width: number): { left: number } | { right: number } {
  return left < width / 2 ? { left: left + 16 } : { right: width - left + 4 };
}

function totalOf({ counts }: Bucket): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function Numbers({ title, series, buckets, label }: Omit<Props, 'bucketMs'> & { label: (at: number) => string }) {
  const busy = buckets.filter((bucket) => totalOf(bucket) > 0);
  return (
    <details className="numbers">
      <summary>Numbers</summary>
      {busy.length === 0 ? (
        <p className="hint">Nothing happened in this time.</p>
      ) : (
        <div className="scroll" tabIndex={0} role="group" aria-label={title}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">From</th>
                {series.map(({ key, name }) => (
                  <th key={key} scope="col" className="numeric">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {busy.toReversed().map(({ at, counts }) => (
                <tr key={at}>
                  <th scope="row">{label(at)}</th>
                  {series.map(({ key }) => (
                    <td key={key} className="numeric">
                      {counts[key]?.toLocaleString('en')}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function useMoment(withDay: boolean): (at: number) => string {
  const timeZone = zoneOf(usePreferences());
  const format = new Intl.DateTimeFormat(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(withDay && { day: 'numeric', month: 'short' }),
    ...(timeZone !== undefined && { timeZone }),
  });
  return (at) => format.format(at);
}
