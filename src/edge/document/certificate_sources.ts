import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { SoundConfig } from './edge_shape.ts';
import type { Report } from './report.ts';

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
