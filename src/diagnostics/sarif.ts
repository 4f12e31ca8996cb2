import type { Diagnostic } from './diagnostic.ts';
import { type DiagnosticJson, diagnosticsToJson } from './json.ts';

/** What a tool found, in the form of SARIF 2.1.0 (OASIS), for code scanning. */
interface Run {
  /** Name and version of the tool. */
  readonly tool: string;
  readonly version: string;
  readonly rules: readonly object[];
  readonly results: readonly object[];
  readonly properties?: object;
}

/** A log with one run. Columns count code points. */
export function sarifLog({ tool, version, rules, results, properties }: Run): object {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: tool, semanticVersion: version, rules } },
        columnKind: 'unicodeCodePoints',
        ...(properties && { properties }),
        results,
      },
    ],
  };
}

/** A path as a relative reference (RFC 3986 §4.2): the revision of a file is not part of it. */
export function sarifUri(name: string): string {
  if (/^https?:/.test(name)) return encodeURI(name);
  const path = name.replace(/^[^/:]+:/, '').replaceAll('\\', '/');
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Findings as SARIF. `sentenceOf` says what a code means in general, if that is known. */
export function diagnosticsSarif(
  list: readonly Diagnostic[],
  version: string,
  sentenceOf: (code: string) => string | null = () => null,
): object {
  const codes = [...new Set(list.map(({ code }) => code))].toSorted();
  const rules = codes.map((id) => {
    const sentence = sentenceOf(id);
    const help = { text: `edgeproof explain-code ${id}` };
    return { id, ...(sentence !== null && { shortDescription: { text: sentence } }), help };
  });
  const results = diagnosticsToJson(list).map((each) => resultOf(each, codes));
  return sarifLog({ tool: 'edgeproof check', version, rules, results });
}

function resultOf(found: DiagnosticJson, codes: readonly string[]): object {
  const { file, range, severity, code, message, pointer, hint, notes, basis, fix } = found;
  const where = file === null ? null : { artifactLocation: { uri: sarifUri(file) } };
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: [message, ...(hint === null ? [] : [hint]), ...notes].join('\n') },
    ...(where !== null && {
      locations: [{ physicalLocation: { ...where, ...(range !== null && { region: regionOf(range) }) } }],
    }),
    // Lines move with each edit; pointers rarely do.
    partialFingerprints: { 'finding/v1': `${code} ${pointer}` },
    ...(where !== null &&
      fix !== null && {
        fixes: [
          {
            description: { text: fix.message },
            artifactChanges: [
              {
                ...where,
                replacements: [{ deletedRegion: regionOf(fix.range), insertedContent: { text: fix.text } }],
              },
            ],
          },
        ],
      }),
    properties: { pointer, ...(basis !== null && { basis }) },
  };
}

function regionOf({ start, end }: NonNullable<DiagnosticJson['range']>): object {
  return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
}
