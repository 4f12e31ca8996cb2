/** Filters that depend on earlier traffic, such as breakers and limits, over time: one strip each. */
import { clockText, durationText } from '../../pages/units.ts';
import type { StateSeries } from '../wire_overview.ts';
import { places } from './places.ts';

const LEAST_MS = 60_000;
// table: colours of verdicts
const TONES = { pass: 'good', stop: 'bad' } as const;

export function StatesView({
  series,
  nowMs,
}: {
  readonly series: readonly StateSeries[];
  readonly nowMs: number;
}) {
  const first = Math.min(
    ...series.flatMap(({ changes }) => changes.map(({ atMs }) => atMs)),
    nowMs - LEAST_MS,
  );
  return (
    <section class="card">
      <h2>Breakers and limits</h2>
      {series.length === 0 && <p class="quiet">The configuration has none, or none was reached.</p>}
      <ul class="states">
        {series.map((each) => (
          <Strip key={`${each.pointer} ${each.label}`} series={each} first={first} nowMs={nowMs} />
        ))}
      </ul>
      {series.length > 0 && <p class="quiet">The last {durationText(nowMs - first)}.</p>}
    </section>
  );
}

function Strip({
  series: { module, label, place, changes },
  first,
  nowMs,
}: {
  readonly series: StateSeries;
  readonly first: number;
  readonly nowMs: number;
}) {
  const now = changes.at(-1);
  const share = (ms: number): number => (100 * (Math.max(ms, first) - first)) / Math.max(1, nowMs - first);
  return (
    <li>
      <p>
        <strong>{label}</strong> <span class="quiet">{module}</span>{' '}
        {now !== undefined && (
          <span class={TONES[now.verdict]} title={now.message}>
            {now.code}
          </span>
        )}{' '}
        {place !== null && (
          <button type="button" class="place" onClick={() => places.show(place)}>
            {place.file}:{place.line}
          </button>
        )}
      </p>
      <div
        class="strip"
        role="img"
        aria-label={changes.map(({ atMs, code }) => `${clockText(atMs)} ${code}`).join(', ')}
      >
        {changes.map(({ atMs, code, verdict }, index) => {
          const from = share(atMs);
          const to = share(changes[index + 1]?.atMs ?? nowMs);
          return (
            <span
              key={index}
              class={TONES[verdict]}
              title={`${clockText(atMs)} ${code}`}
              style={{ left: `${from}%`, width: `${Math.max(0.4, to - from)}%` }}
            />
          );
        })}
      </div>
    </li>
  );
}
