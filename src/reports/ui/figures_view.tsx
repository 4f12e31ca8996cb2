import { useMemo } from 'preact/hooks';
import { PlotView } from '../../pages/plot_view.tsx';
import { countText, durationText } from '../../pages/units.ts';
import type { FiguresReport, ReportedPlot } from '../data.ts';
import { Figures, Table } from './parts.tsx';
import { isFound, query } from './search.ts';

/** Figures, tables and plots. */
export function FiguresView({
  report: { figures, tables, plots, strips },
}: {
  readonly report: FiguresReport;
}) {
  const searched = query.value;
  const shownTables = tables
    .map((table) => ({
      ...table,
      rows: table.rows.filter((row) => isFound(searched, () => [table.title, ...row])),
    }))
    .filter(({ rows }) => rows.length > 0);
  return (
    <>
      <Figures figures={figures} />
      {shownTables.map((table) => (
        <Table key={table.title} table={table} />
      ))}
      {plots
        .filter(({ title, series }) => isFound(searched, () => [title, ...series.map(({ name }) => name)]))
        .map((plot) => (
          <PlotFigure key={plot.title} plot={plot} />
        ))}
      {strips
        .filter(({ title }) => isFound(searched, () => [title]))
        .map((strip) => (
          <Strip key={strip.title} strip={strip} />
        ))}
    </>
  );
}

// table: how values are written
const UNITS: Readonly<Record<ReportedPlot['unit'], (value: number) => string>> = {
  'per second': (value) => `${short(value)}/s`,
  ms: (value) => durationText(value),
  ns: (value) => durationText(value / 1e6),
  count: short,
};

// table: how places on the horizontal axis are written
const ACROSS: Readonly<Record<ReportedPlot['across'], (at: number) => string>> = {
  seconds: (at) => `${short(at)} s`,
  slices: short,
  ns: (at) => durationText(at / 1e6),
};

function short(value: number): string {
  return Number.isInteger(value) ? countText(value) : value.toPrecision(3);
}

function PlotFigure({ plot }: { readonly plot: ReportedPlot }) {
  const { title, note, form: name, unit, at, across, series: given, marks } = plot;
  const form = useMemo(
    () => ({ format: UNITS[unit], across: ACROSS[across], form: name, marks }),
    [unit, across, name, marks],
  );
  const series = useMemo(
    () =>
      given.map(({ name: label, total, color, values }) => ({
        label: total === '' ? label : `${label} (${total})`,
        color,
        values,
      })),
    [given],
  );
  const said = given.map(({ name: label, total }) => `${label} ${total}`).join(', ');
  return (
    <figure>
      <figcaption>
        <h2>{title}</h2>
        {note !== '' && <p class="quiet">{note}</p>}
      </figcaption>
      <PlotView label={`${title}: ${said}`} times={at} series={series} form={form} />
    </figure>
  );
}

/** States over time as a strip: neighbours that are equal are one part. */
function Strip({ strip: { title, states, parts } }: { readonly strip: FiguresReport['strips'][number] }) {
  const runs: { state: number | null; from: number; length: number }[] = [];
  for (const [at, state] of parts.entries()) {
    const last = runs.at(-1);
    if (last?.state === state) last.length++;
    else runs.push({ state, from: at, length: 1 });
  }
  return (
    <figure>
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      <svg
        class="strip"
        viewBox={`0 0 ${parts.length} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={title}
      >
        {runs.map(
          ({ state, from, length }) =>
            state !== null && (
              <rect
                key={from}
                x={from}
                y={0}
                width={length}
                height={10}
                style={{ fill: `var(${states[state]!.color})` }}
              >
                <title>{states[state]!.name}</title>
              </rect>
            ),
        )}
      </svg>
      <ul class="legend">
        {states.map(({ name, color }) => (
          <li key={name}>
            <span class="swatch" style={{ background: `var(${color})` }} aria-hidden="true" /> {name}
          </li>
        ))}
      </ul>
    </figure>
  );
}
