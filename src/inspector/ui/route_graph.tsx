/** Routes on the left, backends on the right, and how many requests went from one to the other. */
import { countText, durationText } from '../../pages/units.ts';
import type { BackendNode, Overview, RouteNode } from '../wire_overview.ts';
import { places } from './places.ts';
import { facets, view } from './state.ts';

const ROW_PX = 64;
const LINKS_PX = 140;

// table: what a match type is for people
const MATCHES: Readonly<Record<string, string>> = { path_prefix: 'prefix', exact_path: 'exact' };

export function RouteGraph({ overview: { routes, backends } }: { readonly overview: Overview }) {
  const rows = Math.max(routes.length, backends.length, 1);
  const topOf = (index: number, count: number): number => ((index + 0.5) * rows * ROW_PX) / count;
  const most = Math.max(1, ...routes.map(({ hits }) => hits));
  const links = routes.flatMap((route, index) =>
    route.backends.flatMap((id) => {
      const at = backends.findIndex((backend) => backend.id === id);
      return at === -1 ? [] : [{ route, from: topOf(index, routes.length), to: topOf(at, backends.length) }];
    }),
  );
  return (
    <section class="card wide">
      <h2>Routes</h2>
      <div class="graph" style={{ '--rows': rows }}>
        <ol class="nodes" aria-label="Routes">
          {routes.map((route) => (
            <Route key={route.pointer} route={route} most={most} />
          ))}
        </ol>
        <svg
          class="links"
          viewBox={`0 0 ${LINKS_PX} ${rows * ROW_PX}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {links.map(({ route, from, to }, index) => (
            <path
              key={index}
              class={route.hits === 0 ? 'unused' : ''}
              d={`M0 ${from} C${LINKS_PX / 2} ${from} ${LINKS_PX / 2} ${to} ${LINKS_PX} ${to}`}
              stroke-width={1 + 5 * (route.hits / most)}
            />
          ))}
        </svg>
        <ol class="nodes" aria-label="Backends">
          {backends.map((backend) => (
            <Backend key={backend.id} backend={backend} />
          ))}
        </ol>
      </div>
    </section>
  );
}

function Route({ route, most }: { readonly route: RouteNode; readonly most: number }) {
  const { edge, hosts, match, matchType, place, filters, backends, hits, p99Ms } = route;
  return (
    <li class="node">
      <p>
        <button
          type="button"
          class="place"
          title="Show the requests of this host"
          onClick={() => {
            facets.value = hosts.map((value) => ({
              name: 'host',
              value: value.replace(/:(?:443|80)$/, ''),
              isNegated: false,
            }));
            view.value = 'traffic';
          }}
        >
          {hosts[0] ?? edge}
        </button>
        {hosts.length > 1 && <span class="quiet"> +{hosts.length - 1}</span>} <code>{match}</code>{' '}
        <span class="quiet">{MATCHES[matchType] ?? matchType}</span>
        <span class="hits">
          {countText(hits)}
          {p99Ms !== null && <span class="quiet"> p99 {durationText(p99Ms)}</span>}
        </span>
      </p>
      <p class="filters">
        {filters.map(({ module, pointer, stops }) => (
          <span key={pointer} class={stops > 0 ? 'filter stops' : 'filter'}>
            {module}
            {stops > 0 && ` ■ ${countText(stops)}`}
          </span>
        ))}
        <span class="leads">→ {backends.join(', ') || 'no backend'}</span>
        {place !== null && (
          <button type="button" class="place" onClick={() => places.show(place)}>
            {place.file}:{place.line}
          </button>
        )}
      </p>
      <span class="share" style={{ width: `${(hits / most) * 100}%` }} />
    </li>
  );
}

function Backend({ backend: { id, addresses, attempts, health } }: { readonly backend: BackendNode }) {
  return (
    <li class={`node ${health}`}>
      <p>
        <strong>{id}</strong>
        <span class="hits">{countText(attempts)}</span>
      </p>
      <p class="quiet">{addresses.join(', ')}</p>
    </li>
  );
}
