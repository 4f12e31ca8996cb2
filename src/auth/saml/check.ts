import { writeDay } from '../../datetime/texts.ts';
import { linesOf, positionAt } from '../../diagnostics/lines.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { plainHttp } from '../../filters/field_checks.ts';
import type { SamlConfig as ActionConfig } from './action_schema.ts';
import { hasEnded, inOneLine, isMetadataProblem, metadataWarnings, readMetadata } from './metadata.ts';
import type { SamlConfig } from './module_schema.ts';

export const findings = {
  'edge.saml_metadata': {
    cure: ['Metadata of a service provider, or a URL', 'Paste the XML that the identity provider offers'],
    message: 'The metadata of a SAML identity provider is invalid.',
  },
  'edge.saml_expired': {
    cure: ['Metadata with a certificate of last year', 'Get new metadata from the identity provider'],
    severity: 'warning',
    message: 'A certificate of a SAML identity provider has expired or is not yet valid.',
  },
  'edge.saml_certificate': {
    cure: ['Metadata with an ECDSA certificate', 'Use an RSA certificate at the identity provider'],
    severity: 'warning',
    message:
      'A certificate of a SAML identity provider has an unsupported type: its signatures are not accepted.',
  },
} as const;

/** Checks that the metadata is valid; if the time is known, also that it has not expired. */
export function checkModule(
  { idp_metadata: text }: Sound<SamlConfig>,
  report: Report<keyof typeof findings>,
  { nowMs }: { readonly nowMs?: number },
): void {
  if (text === undefined) return;
  const at = '/idp_metadata';
  const read = readMetadata(text);
  if (isMetadataProblem(read)) {
    const lines = linesOf(text);
    for (const { message, offset } of read.problems) {
      const { line, column } = positionAt(lines, Math.min(offset, text.length));
      report(
        'edge.saml_metadata',
        at,
        `the metadata ${message} (line ${line}, column ${column} of the metadata)`,
        { hint: hintFor(text) },
      );
    }
    return;
  }
  for (const subject of read.passedOver) {
    const message = `the certificate of ${inOneLine(subject)} is not used: only RSA with at least 2048 bits is supported`;
    report('edge.saml_certificate', at, message);
  }
  if (nowMs === undefined) return;
  if (hasEnded(read, nowMs)) {
    const day = writeDay(read.validUntilMs!);
    const message = `the metadata expired on ${day}; get a new version from the identity provider`;
    report('edge.saml_metadata', at, message);
  }
  for (const message of metadataWarnings(read, nowMs)) report('edge.saml_expired', at, message);
}

/** Checks that the metadata is given once, and valid if it is in the policy. */
export function checkAction(config: Sound<ActionConfig>, report: Report<number | string>): void {
  const hasMetadata = Object.hasOwn(config, 'idp_metadata');
  const hasUrl = Object.hasOwn(config, 'idp_metadata_url');
  if (!hasMetadata && !hasUrl) {
    const message = "'saml' needs 'idp_metadata' or 'idp_metadata_url'";
    report(2234, '', message, { at: 'key', hint: 'add idp_metadata' });
  } else if (hasMetadata && hasUrl) {
    const message = "'idp_metadata' and 'idp_metadata_url' exclude each other";
    report(2204, '/idp_metadata_url', message, { at: 'key', hint: 'keep one of them' });
  }
  const plain = plainHttp(
    config.idp_metadata_url ?? '',
    'no login can succeed, because metadata of another machine must use https',
  );
  if (plain !== null) report('policy.plain_http', '/idp_metadata_url', ...plain);
  const text = config.idp_metadata;
  const read = text === undefined ? null : readMetadata(text);
  if (read !== null && isMetadataProblem(read))
    report(2204, '/idp_metadata', `the metadata ${read.problems[0]!.message}`);
}

/** What to put there instead, for what is often put there. */
function hintFor(text: string): string {
  if (/^\s*https?:/.test(text)) return 'write the XML that this URL returns';
  if (/<(?:\w+:)?SPSSODescriptor/.test(text))
    return 'this is the metadata of an app; the metadata of the identity provider is needed';
  return 'copy the whole XML file of the identity provider';
}
