import { appendFileSync } from 'node:fs';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { packageVersion } from './version.ts';

/** Forms for other tools; each is loaded when it is asked for. */
const REPORTERS = {
  json: async (list) => {
    const { diagnosticsToJson } = await import('../diagnostics/json.ts');
    return jsonText(diagnosticsToJson(list));
  },
  github: async (list, files) => {
    const { diagnosticsAnnotations, diagnosticsSummary } = await import('../diagnostics/annotations.ts');
    // GitHub Actions shows what is appended to this file on the page of the run.
    const summary = process.env['GITHUB_STEP_SUMMARY'];
    if (summary) appendFileSync(summary, diagnosticsSummary(list, files));
    return diagnosticsAnnotations(list);
  },
  sarif: async (list) => {
    const { diagnosticsSarif } = await import('../diagnostics/sarif.ts');
    const { ANALYSIS_CODES } = await import('../analysis/codes.ts');
    const { EDGE_CODES } = await import('../edge/document/codes.ts');
    const codes: Readonly<Record<string, { readonly message: string }>> = {
      ...EDGE_CODES,
      ...ANALYSIS_CODES,
    };
    const sentenceOf = (code: string): string | null => codes[code]?.message ?? null;
    return jsonText(diagnosticsSarif(list, packageVersion(), sentenceOf));
  },
  junit: async (list, files) => {
    const { diagnosticsJunit } = await import('../diagnostics/junit.ts');
    return diagnosticsJunit(list, files);
  },
} satisfies Readonly<
  Record<string, (list: readonly Diagnostic[], files: readonly string[]) => Promise<string>>
>;

export const CHECK_REPORTERS = ['text', 'json', 'github', 'sarif', 'junit'] as const;
export type CheckReporter = (typeof CHECK_REPORTERS)[number];

/** Findings in a form for other tools. */
export async function reported(
  reporter: Exclude<CheckReporter, 'text'>,
  list: readonly Diagnostic[],
  files: readonly string[],
): Promise<string> {
  return REPORTERS[reporter](list, files);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
