import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import { isMetadataProblem, metadataWarnings, readMetadata } from '../mechanisms/login/saml/metadata.ts';
import type { Checking } from './document/check.ts';
import { routesOf } from './document/routes_of.ts';

/** Whether the metadata of every SAML identity provider can be used; at a known time, whether it still is good. */
export function checkSamlMetadata({ config, report }: Checking, nowMs?: number): readonly Diagnostic[] {
  for (const { pointer, thing: route } of routesOf(config)) {
    const text = route.saml?.idp_metadata;
    if (text === undefined) continue;
    const at = pointerTo(`${pointer}/saml`, 'idp_metadata');
    const read = readMetadata(text);
    if (!isMetadataProblem(read)) {
      const warnings = nowMs === undefined ? [] : metadataWarnings(read, nowMs);
      for (const says of warnings) report('edge.saml_expired', at, says);
      continue;
    }
    const lines = linesOf(text);
    for (const { says, offset } of read.problems) {
      const { line, column } = positionAt(lines, Math.min(offset, text.length));
      report('edge.saml_metadata', at, `the metadata ${says} (its line ${line}, column ${column})`);
    }
  }
  return [];
}
