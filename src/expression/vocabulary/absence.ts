import { ACTION_ROWS } from './action_results.ts';

const FACT =
  /^conn\.(?:geo|k8s|server_region|(?:client_ip|server_ip)\.(?:geo|as|categories|is_on_blocklist|is_tor_node))(?:\.|$)/;

/** Why a variable or field that may be absent is, for explanations; undefined where nothing more can be said. */
export function reasonOfAbsence(path: string): string | undefined {
  if (FACT.test(path)) return 'no such fact is known of the address; a table of facts can tell it';
  if (/^conn\.tls\.(?:client|server)\b/.test(path))
    return 'there is no such certificate, or not all of it is known';
  if (path === 'conn.tls.ja4_fingerprint')
    return 'nobody has taken the fingerprint; a table of facts can tell it';
  if (path.startsWith('conn.tls.')) return 'the connection is without TLS, or this was not recorded';
  if (path.startsWith('conn.bytes_') || path === 'conn.ts.end')
    return 'this is not known before the connection ends';
  const name = /^actions\.[^.]+\.([^.]+)$/.exec(path)?.[1];
  const row = name === undefined ? undefined : ACTION_ROWS.find((one) => one.name === name);
  return row === undefined ? undefined : `no \`${row.action}\` has run so far`;
}
