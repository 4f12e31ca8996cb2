/** The leading-dot spelling of old header modules: `${.conn.client_ip}`, `${.http.request.url.path}`. */
const MOVED: readonly (readonly [old: string, now: string])[] = [
  ['http.request.url.raw', 'req.url.raw'],
  ['http.request.url', 'req.url'],
  ['http.request.method', 'req.method'],
  ['http.request.headers', 'req.headers'],
  ['http.request.user_agent', 'req.user_agent'],
  ['http.response.status_code', 'res.status_code'],
  ['http.response.headers', 'res.headers'],
  ['tls.client_cert.subject.cn', 'conn.tls.client.subject.common_name'],
  ['tls.client_cert.serial_number', 'conn.tls.client.serial_number'],
  ['tls.cipher_suite', 'conn.tls.cipher_suite'],
  ['tls.version', 'conn.tls.version'],
  ['conn.start_ts', 'conn.ts.start'],
  ['conn.server_name', 'conn.tls.sni'],
];

const DOTTED_PATH = /^\s*\.\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/;

export interface LegacyPath {
  /** Length of the old spelling in the source, from its first character. */
  readonly length: number;
  readonly path: string;
}

/** The current name of a path with a leading dot at the start of an expression. */
export function legacyPath(source: string, service: string): LegacyPath | undefined {
  const found = DOTTED_PATH.exec(source);
  if (found === null) return undefined;
  return { length: found[0].length, path: movedPath(found[1]!, service) };
}

function movedPath(path: string, service: string): string {
  const geo = `${service}.geo`;
  for (const [old, now] of [...MOVED, [geo, 'conn.geo'] as const]) {
    if (path === old || path.startsWith(`${old}.`)) return now + path.slice(old.length);
  }
  return path;
}
