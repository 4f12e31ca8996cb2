import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { childUses } from './references.ts';
import type { Report, SoundConfig } from './report.ts';
import { edgesOf, routesOf, streamEdgesOf } from './routes_of.ts';

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
      hint: 'add a route, or remove the edge',
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

/**
 * Checks that the backends of TLS and TCP edges can be connected to: without HTTP, an edge cannot respond by itself.
 */
export function checkStreams(config: SoundConfig, report: Report): void {
  for (const { kind, name, pointer, thing } of streamEdgesOf(config)) {
    if (!('backend' in thing)) {
      const message = `${kind.toUpperCase()} edge ${quoted(name)} has no backend, so every connection is closed`;
      report('edge.edge_without_backend', pointer, message, { at: 'key' });
      continue;
    }
    const id = thing.backend?.backend_id;
    const answering = id === undefined ? null : answeringBackend(config, id, new Set());
    if (answering === null) continue;
    const message = `backend ${quoted(answering)} is an HTTP response, which a ${kind.toUpperCase()} edge cannot send`;
    report('edge.backend_not_dialled', `${pointer}/backend/backend_id`, message);
  }
}

/** The first backend below this one that is a fixed HTTP response. */
function answeringBackend(config: SoundConfig, id: string, seen: Set<string>): string | null {
  const backend = config.backends?.[id];
  if (backend === undefined || seen.has(id)) return null;
  seen.add(id);
  if (backend.http_response !== undefined) return id;
  for (const child of childUses('', backend)) {
    const found = answeringBackend(config, child.name, seen);
    if (found !== null) return found;
  }
  return null;
}

/** Checks that each policy is there: other forms than a text have become one. */
export function checkPolicyTexts(config: SoundConfig, report: Report): void {
  for (const { pointer, thing } of [...routesOf(config), ...streamEdgesOf(config)]) {
    const { traffic_policy: policy } = thing;
    if (policy === undefined || 'value' in policy) continue;
    report('edge.missing_key', `${pointer}/traffic_policy`, 'the traffic policy is missing', {
      at: 'key',
      notes: ['write its phases here, such as `on_http_request`, or name its file with `file`'],
    });
  }
}

/** Checks that each text is given either in the file or as a file name. */
export function checkCertificateSources(config: SoundConfig, report: Report): void {
  for (const [name, certificate] of Object.entries(config.tls_certificates ?? {})) {
    const at = pointerTo('/tls_certificates', name);
    if (certificate === undefined) continue;
    checkSource(certificate, 'certificate_pem', 'certificate_file', at, report);
    checkSource(certificate, 'private_key_pem', 'private_key_file', at, report);
  }
  for (const [name, authority] of Object.entries(config.certificate_authorities ?? {})) {
    const at = pointerTo('/certificate_authorities', name);
    if (authority !== undefined) checkSource(authority, 'ca_pem', 'ca_file', at, report);
  }
}

function checkSource(thing: object, text: string, file: string, pointer: string, report: Report): void {
  const hasText = text in thing;
  const hasFile = file in thing;
  if (hasText !== hasFile) return;
  const message = hasText ? `both ${text} and ${file} are set` : `neither ${text} nor ${file} is set`;
  report('edge.certificate_source', pointer, message, {
    at: 'key',
    notes: [`exactly one of ${quoted(text)} and ${quoted(file)}`],
  });
}
