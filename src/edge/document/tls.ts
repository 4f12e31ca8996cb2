import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../config_file/message_text.ts';
import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';
import { edgesOf, streamEdgesOf } from './routes_of.ts';

/** Maximum number of authorities of an edge, as at the service. */
const AUTHORITIES_LIMIT = 10;

/** Checks TLS settings of edges, as far as possible without parsing certificates. */
export function checkTls(config: SoundConfig, report: Report): void {
  for (const { pointer, thing } of [...edgesOf(config), ...streamEdgesOf(config)]) {
    const { mutual_tls: mutual } = thing;
    if (mutual === undefined) continue;
    const count = mutual.certificate_authority_ids?.length ?? 0;
    if (count > AUTHORITIES_LIMIT) {
      const message = `there are ${count} certificate authorities; at most ${AUTHORITIES_LIMIT} are allowed`;
      report('edge.too_many_authorities', `${pointer}/mutual_tls/certificate_authority_ids`, message, {
        at: 'key',
      });
    }
  }
  for (const { pointer, thing } of streamEdgesOf(config)) {
    const { mutual_tls: mutual, tls_termination: termination } = thing;
    const isPassed =
      termination?.enabled === false || (termination !== undefined && termination.terminate_at !== 'edge');
    if (mutual === undefined || mutual.enabled === false || !isPassed) continue;
    const message = 'this edge passes TLS through, so it never sees a client certificate';
    report('edge.termination_elsewhere', `${pointer}/mutual_tls`, message, { at: 'key' });
  }
  checkSources(config, report);
}

/** Each text is given either in the file or as a file name. */
function checkSources(config: SoundConfig, report: Report): void {
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
