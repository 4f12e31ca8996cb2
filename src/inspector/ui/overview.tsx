/** The overview: routes with their hits, stops by reason, states, upstreams, latency, revisions, coverage. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { countText, durationText } from '../../pages/units.ts';
import type { Overview, StreamNode } from '../wire_overview.ts';
import { CoverageView } from './coverage_view.tsx';
import { PlotsView } from './plots_view.tsx';
import { places } from './places.ts';
import { RevisionsView } from './revisions_view.tsx';
import { RouteGraph } from './route_graph.tsx';
import { get, sentenceOf } from './server.ts';
import { facets, hello, revision, view } from './state.ts';
import { StatesView } from './states_view.tsx';

const overview = signal<Overview | null>(null);
const failure = signal<string | null>(null);
const EVERY_MS = 2000;

/** Asks again while the overview is open. */
function followed(): () => void {
  const abort = new AbortController();
  let timer = 0;
  const ask = async (): Promise<void> => {
    try {
      if (document.visibilityState === 'visible')
        overview.value = await get<Overview>('overview', abort.signal);
      failure.value = null;
    } catch (error) {
      if (abort.signal.aborted) return;
      failure.value = sentenceOf(error);
    }
    timer = window.setTimeout(() => void ask(), EVERY_MS);
  };
  void ask();
  return () => {
    abort.abort();
    window.clearTimeout(timer);
  };
}

export function OverviewPane() {
  useEffect(followed, []);
  const now = overview.value;
  return (
    <section class="overview" aria-label="Overview" aria-busy={now === null} tabIndex={0}>
      {failure.value !== null && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      {now !== null && (
        <>
          <Figures of={now} />
          <PlotsView seconds={now.seconds} />
          <RouteGraph overview={now} />
          {now.streams.length > 0 && <Streams list={now.streams} />}
          <div class="cards">
            <Stops list={now.stops} />
            <Upstreams list={now.backends} nowMs={now.nowMs} />
            <StatesView series={now.states} nowMs={now.nowMs} />
            <RevisionsView list={now.revisions} active={revision.value?.revision ?? now.revision} />
            {hello.value?.can.coverage === true && <CoverageView />}
          </div>
        </>
      )}
    </section>
  );
}

function Figures({ of: { latency, routes, stops, revision: number } }: { readonly of: Overview }) {
  const requests = routes.reduce((sum, { hits }) => sum + hits, 0);
  const stopped = stops.reduce((sum, { count }) => sum + count, 0);
  const figures: [string, string][] = [
    ['Requests', countText(requests)],
    ['Stopped', countText(stopped)],
    ['p50', latency === null ? '–' : durationText(latency.p50Ms)],
    ['p90', latency === null ? '–' : durationText(latency.p90Ms)],
    ['p99', latency === null ? '–' : durationText(latency.p99Ms)],
    ['Revision', String(number)],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Streams({ list }: { readonly list: readonly StreamNode[] }) {
  return (
    <section class="card wide">
      <h2>TLS and TCP edges</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Edge</th>
            <th scope="col">Addresses</th>
            <th scope="col">Connections</th>
            <th scope="col">Stopped</th>
          </tr>
        </thead>
        <tbody>
          {list.map(({ edge, kind, addresses, connections, stops }) => (
            <tr key={`${kind} ${edge}`}>
              <th scope="row">
                {edge} <span class="quiet">{kind}</span>
              </th>
              <td>{addresses.join(', ')}</td>
              <td class="number">{countText(connections)}</td>
              <td class="number">{countText(stops)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Stops({ list }: { readonly list: Overview['stops'] }) {
  const most = Math.max(1, ...list.map(({ count }) => count));
  return (
    <section class="card">
      <h2>Stops by reason</h2>
      {list.length === 0 && <p class="quiet">No request was stopped.</p>}
      <table class="bars">
        <caption class="hidden">Stops by reason</caption>
        <tbody>
          {list.slice(0, 20).map(({ by, code, count, place }) => (
            <tr key={`${by} ${code} ${place?.file} ${place?.line}`}>
              <th scope="row">
                <button
                  type="button"
                  class="place"
                  title="Show these"
                  onClick={() => {
                    facets.value = [{ name: 'code', value: code, isNegated: false }];
                    view.value = 'traffic';
                  }}
                >
                  {code}
                </button>{' '}
                {place !== null && (
                  <button type="button" class="place quiet" onClick={() => places.show(place)}>
                    {place.file}:{place.line}
                  </button>
                )}
              </th>
              <td class="bar">
                <span style={{ width: `${(count / most) * 100}%` }} />
              </td>
              <td class="number">{countText(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

// table: states of upstreams, read out and drawn
const HEALTH = {
  up: ['answers', 'good'],
  down: ['fails', 'bad'],
  unknown: ['not asked yet', 'quiet'],
} as const;

function Upstreams({ list, nowMs }: { readonly list: Overview['backends']; readonly nowMs: number }) {
  return (
    <section class="card">
      <h2>Upstreams</h2>
      {list.length === 0 && <p class="quiet">The configuration has none.</p>}
      <ul class="upstreams">
        {list.map(({ id, addresses, attempts, failures, health, lastFailure }) => {
          const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
          const [label, tone] = HEALTH[health];
          return (
            <li key={id}>
              <p>
                <span class={`dot ${tone}`} aria-hidden="true" /> <strong>{id}</strong>{' '}
                <span class={tone}>{label}</span> <span class="quiet">{addresses.join(', ')}</span>
              </p>
              <p class="quiet">
                {countText(attempts)} attempts, {countText(failed)} failed
                {failed > 0 &&
                  ` (${Object.entries(failures)
                    .map(([code, count]) => `${code} ${count}`)
                    .join(', ')})`}
              </p>
              {lastFailure !== null && (
                <p class="quiet">
                  last: {lastFailure.code} {lastFailure.detail},{' '}
                  {durationText(Math.max(0, nowMs - lastFailure.atMs))} ago
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
