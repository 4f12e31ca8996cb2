import { useMemo } from 'preact/hooks';
import { countText } from '../../pages/units.ts';
import { visible, visibleLine } from '../../pages/visible.ts';
import type { CoverageReportData, CoveredEdge, ReportedPoint } from '../data.ts';
import { isFound, isOpen, onlyBad, query, toggle } from './search.ts';

/** What cases have reached: figures by kind, then the source with marks. */
export function CoverageView({ report: { edges } }: { readonly report: CoverageReportData }) {
  return (
    <>
      {edges.map((edge) => (
        <Edge key={edge.name} edge={edge} />
      ))}
    </>
  );
}

function Edge({ edge }: { readonly edge: CoveredEdge }) {
  const { name, requests, tallies, missed, text, points } = edge;
  const searched = query.value;
  const bad = onlyBad.value;
  const found = useMemo(
    () =>
      points.filter(
        ({ kind, message, why, state, place }) =>
          (!bad || state === 'missed') &&
          isFound(searched, () => [kind, message, why, place === null ? '' : `${place.file}:${place.line}`]),
      ),
    [points, searched, bad],
  );
  const isAll = found.length === points.length;
  const elsewhere = found.filter(
    ({ place, state }) => text === null || state === 'left out' || place?.file !== name,
  );
  return (
    <section>
      <h2>
        {visibleLine(name)}{' '}
        <small class="quiet">{requests === 1 ? '1 request' : `${countText(requests)} requests`}</small>
      </h2>
      <Tallies tallies={tallies} />
      {missed.map((sentence) => (
        <p key={sentence} class="bad">
          {visibleLine(sentence)}
        </p>
      ))}
      <p class="quiet" role="status">
        {countText(found.length)} of {countText(points.length)} points shown
      </p>
      {text !== null && <Source name={name} text={text} points={found} isAll={isAll} />}
      {elsewhere.length > 0 && (
        <>
          <h3>{text === null ? 'Points' : 'Left out, or without a place in this file'}</h3>
          <Points points={elsewhere} />
        </>
      )}
    </section>
  );
}

function Tallies({ tallies }: Pick<CoveredEdge, 'tallies'>) {
  return (
    <table class="tallies">
      <caption class="hidden">Coverage by kind</caption>
      <tbody>
        {tallies.map(({ kind, covered, possible, percent, leftOut }) => (
          <tr key={kind}>
            <th scope="row">{kind}</th>
            <td>
              <meter
                min={0}
                max={Math.max(1, possible)}
                value={possible === 0 ? 1 : covered}
                aria-label={kind}
              />
            </td>
            <td>{percent} %</td>
            <td>
              {covered} of {possible}
            </td>
            <td class="quiet">{leftOut}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SourceProps {
  readonly name: string;
  readonly text: string;
  readonly points: readonly ReportedPoint[];
  /** Whether nothing was searched for: then lines without points are shown, too. */
  readonly isAll: boolean;
}

function Source({ name, text, points, isAll }: SourceProps) {
  const byLine = useMemo(() => {
    const lines = new Map<number, ReportedPoint[]>();
    for (const point of points) {
      if (point.place === null || point.place.file !== name || point.state === 'left out') continue;
      const own = lines.get(point.place.line) ?? [];
      own.push(point);
      lines.set(point.place.line, own);
    }
    return lines;
  }, [name, points]);
  return (
    <ol class="covered_source">
      {text.split('\n').map((line, index) => {
        const own = byLine.get(index + 1);
        if (own === undefined && !isAll) return null;
        return <Line key={index} id={`${name}:${index + 1}`} at={index + 1} text={line} points={own ?? []} />;
      })}
    </ol>
  );
}

function Line({
  id,
  at,
  text,
  points,
}: {
  readonly id: string;
  readonly at: number;
  readonly text: string;
  readonly points: readonly ReportedPoint[];
}) {
  const code = (
    <>
      <span class="number">{at}</span>
      {visible(text)}
    </>
  );
  if (points.length === 0) return <li>{code}</li>;
  const hit = points.filter(({ state }) => state === 'hit').length;
  const mark = hit === points.length ? 'full' : hit === 0 ? 'none' : 'part';
  const open = isOpen(id, false);
  return (
    <li class={mark}>
      <button type="button" class="head" aria-expanded={open} onClick={() => toggle(id)}>
        {code}
        <span class="count">
          <span class="hidden">covered: </span>
          {hit} of {points.length}
        </span>
      </button>
      {open && <Points points={points} />}
    </li>
  );
}

function Points({ points }: { readonly points: readonly ReportedPoint[] }) {
  return (
    <ul class="points">
      {points.map(({ kind, message, state, hits, why, offer, place }, index) => (
        <li key={index}>
          {kind}: {visibleLine(message)}{' '}
          {state === 'hit' ? (
            <strong class="good">{countText(hits)} ×</strong>
          ) : (
            <span class={state === 'missed' ? 'bad' : 'quiet'}>{visibleLine(why ?? state)}</span>
          )}{' '}
          {place !== null && (
            <code class="quiet">
              {place.file}:{place.line}
            </code>
          )}
          {offer !== null && <pre>{visible(offer)}</pre>}
        </li>
      ))}
    </ul>
  );
}
