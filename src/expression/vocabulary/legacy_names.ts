import type { Unavailable } from '../scope.ts';

/** Names of February 2024 and what they are called since: an error that says so, never a second spelling. */
export const LEGACY_NAMES: readonly (readonly [old: string, now: string])[] = [
  ['conn.ClientIP', 'conn.client_ip'],
  ['conn.ClientPort', 'conn.client_port'],
  ['conn.ServerIP', 'conn.server_ip'],
  ['conn.ServerPort', 'conn.server_port'],
  ['conn.ServerName', 'conn.tls.sni'],
  ['conn.ServerRegion', 'conn.server_region'],
  ['conn.BytesIn', 'conn.bytes_in'],
  ['conn.BytesOut', 'conn.bytes_out'],
  ['conn.StartTS', 'conn.ts.start'],
  ['conn.EndTS', 'conn.ts.end'],
  ['conn.Geo.City', 'conn.geo.city'],
  ['conn.Geo.Country', 'conn.geo.country'],
  ['conn.Geo.CountryCode', 'conn.geo.country_code'],
  ['conn.Geo.Latitude', 'conn.geo.latitude'],
  ['conn.Geo.LatitudeRadiusKm', 'conn.geo.radius'],
  ['conn.Geo.Longitude', 'conn.geo.longitude'],
  ['conn.Geo.Subdivision', 'conn.geo.subdivision'],
  ['conn.Geo', 'conn.geo'],
  ['conn.TLS.CipherSuite', 'conn.tls.cipher_suite'],
  ['conn.TLS.SNI', 'conn.tls.sni'],
  ['conn.TLS.Version', 'conn.tls.version'],
  ['conn.TLS', 'conn.tls'],
  ['req.Method', 'req.method'],
  ['req.Host', 'req.host'],
  ['req.URL.Host', 'req.url.host'],
  ['req.URL.Path', 'req.url.path'],
  ['req.URL.RawQuery', 'req.url.query'],
  ['req.URL.Scheme', 'req.url.scheme'],
  ['req.URL', 'req.url'],
  ['req.Headers', 'req.headers'],
  ['req.Cookies', 'req.cookies'],
  ['req.Params', 'req.url.query_params'],
  ['req.ContentLength', 'req.content_length'],
  ['req.ContentType', 'req.content_type'],
  ['req.ContentEncoding', 'req.content_encoding'],
  ['req.Location', 'req.location'],
  ['req.Trailers', 'req.trailers'],
  ['req.UserAgent', 'req.user_agent'],
  ['req.Version', 'req.version'],
  ['res.StatusCode', 'res.status_code'],
  ['res.Headers', 'res.headers'],
  ['res.Cookies', 'res.cookies'],
  ['res.ContentLength', 'res.content_length'],
  ['res.ContentType', 'res.content_type'],
  ['res.ContentEncoding', 'res.content_encoding'],
  ['res.Location', 'res.location'],
  ['res.Trailers', 'res.trailers'],
  ['res.Version', 'req.version'],
];

const RENAMED = new Map(LEGACY_NAMES);

/** What an old name is called now; undefined when it is none. */
export function renamed(name: string): string | undefined {
  return RENAMED.get(name);
}

export const LEGACY: readonly Unavailable[] = LEGACY_NAMES.map(([name, now]) => ({
  name,
  says: `this is called \`${now}\` since 2024`,
}));
