import { ANALYSIS_CODES } from '../analysis/codes.ts';
import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';

/** `# edgeproof-ignore analysis.dead_rule: reason`, at the end of a line or on the line before it. */
const DIRECTIVE = /(?:^|\s)#\s*edgeproof-ignore\s+([a-z][a-z_.]*)\s*(?::\s*(.*?))?\s*$/;
const COMMENT = /^\s*(?:#.*)?$/;

interface Silence {
  readonly code: string;
  readonly reason: string;
  /** The line that it is about, from 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/**
 * The findings that no comment of the source silences, and findings about the comments: without a reason, or without a
 * finding that they silence.
 */
export function withoutSilenced(source: Source, found: readonly Diagnostic[]): readonly Diagnostic[] {
  const silences = silencesIn(source);
  if (silences.length === 0) return found;
  const lines = linesOf(source.text);
  const used = new Set<Silence>();
  const left = found.filter((diagnostic) => {
    const { code, span } = diagnostic;
    if (span === undefined || diagnostic.source?.text !== source.text) return true;
    const { line } = positionAt(lines, span.start);
    const silence = silences.find((each) => each.code === code && each.line === line && each.reason !== '');
    if (silence !== undefined) used.add(silence);
    return silence === undefined;
  });
  const about = silences.flatMap((silence): readonly Diagnostic[] => {
    const { code, reason, start, end } = silence;
    if (used.has(silence)) return [];
    const own = reason === '' ? 'analysis.silence_without_reason' : 'analysis.unused_silence';
    const { message } = ANALYSIS_CODES[own];
    const hint = reason === '' ? `write # edgeproof-ignore ${code}: and the reason` : `no ${code} here`;
    return [{ code: own, severity: 'warning', message, pointer: '', source, span: { start, end }, hint }];
  });
  return [...left, ...about];
}

function silencesIn({ text }: Source): readonly Silence[] {
  if (!text.includes('edgeproof-ignore')) return [];
  const { starts } = linesOf(text);
  const lineAt = (index: number): string => text.slice(starts[index], starts[index + 1] ?? text.length);
  return starts.flatMap((start, index): readonly Silence[] => {
    const line = lineAt(index).replace(/[\r\n]+$/, '');
    const match = DIRECTIVE.exec(line);
    if (match === null) return [];
    let about = index;
    if (COMMENT.test(line)) {
      about++;
      while (about < starts.length && COMMENT.test(lineAt(about).trimEnd())) about++;
    }
    const from = start + line.indexOf('#', match.index);
    const [, code = '', reason = ''] = match;
    return [{ code, reason, line: about + 1, start: from, end: start + line.length }];
  });
}
