import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { edgesOf, routesOf } from './routes_of.ts';

/** Warns about edges and routes that can never serve a request. */
export function checkRoutes(config: SoundConfig, report: Report): void {
  const { https, tls, tcp } = config.edges ?? {};
  if (https !== undefined && Object.keys({ ...https, ...tls, ...tcp }).length === 0) {
    report('edge.no_edges', '/edges', 'there is no edge, so nothing is served', { at: 'key' });
  }
  for (const { name, pointer, thing } of edgesOf(config)) {
    if (thing.routes?.length !== 0) continue;
    report('edge.no_routes', pointer, `edge '${name}' has no routes, so every request gets 404`, {
      at: 'key',
    });
  }
  for (const { pointer, thing: route } of routesOf(config)) {
    // A key with an invalid value is still present.
    if (!('backend' in route)) {
      const message = 'the route has no backend, so requests that pass its modules get an error';
      report('edge.route_without_backend', pointer, message);
    }
  }
}
