import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import { writeDay } from '../datetime/texts.ts';
import {
  type ProviderMetadata,
  hasEnded,
  inOneLine,
  isMetadataProblem,
  metadataWarnings,
  readMetadata,
} from '../auth/saml/metadata.ts';
import type { Checking } from './document/check.ts';
import { routesOf } from './document/routes_of.ts';

/** Checks that the metadata of every SAML identity provider can be used and, at a given time, is still valid. */
export function checkSamlMetadata({ config, report }: Checking, nowMs?: number): readonly Diagnostic[] {
  for (const { pointer, thing: route } of routesOf(config)) {
    const text = route.saml?.idp_metadata;
    if (text === undefined) continue;
    const at = pointerTo(`${pointer}/saml`, 'idp_metadata');
    const read = readMetadata(text);
    if (!isMetadataProblem(read)) {
      for (const subject of read.passedOver) {
        const message = `the certificate of ${inOneLine(subject)} is not used: only RSA with at least 2048 bits is supported`;
        report('edge.saml_certificate', at, message);
      }
      if (nowMs !== undefined) reportTimes(read, nowMs, (code, message) => report(code, at, message));
      continue;
    }
    const lines = linesOf(text);
    for (const { message, offset } of read.problems) {
      const { line, column } = positionAt(lines, Math.min(offset, text.length));
      report('edge.saml_metadata', at, `the metadata ${message} (its line ${line}, column ${column})`);
    }
  }
  return [];
}

function reportTimes(
  metadata: ProviderMetadata,
  nowMs: number,
  report: (code: 'edge.saml_metadata' | 'edge.saml_expired', message: string) => void,
): void {
  if (hasEnded(metadata, nowMs)) {
    const day = writeDay(metadata.validUntilMs!);
    report('edge.saml_metadata', `the metadata expired on ${day}; get a new version from the identity provider`);
  }
  for (const message of metadataWarnings(metadata, nowMs)) report('edge.saml_expired', message);
}
