import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { stderr, stdout } from './output.ts';

/**
 * Whether to write colours to a stream: NO_COLOR and FORCE_COLOR decide first, then whether it is a terminal.
 */
export function wantsColor(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '0') return true;
  return stream.isTTY === true;
}

/** How texts are printed to standard output: in colour, if it takes colours. */
export function outputLook(): { readonly color: boolean } {
  return { color: wantsColor(stdout) };
}

/** A request is untrusted text, so control characters that steer a terminal are replaced. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

/** Prints a text of lines to standard output, without what would steer a terminal. */
export function printLines(text: string): void {
  for (const line of text.split('\n').slice(0, -1)) stdout.write(`${printable(line)}\n`);
}

/** Prints a report: a page as it is, since its script has a hash; all others as lines. */
export function printReport(name: string, text: string): void {
  if (name === 'html') stdout.write(text);
  else printLines(text);
}

/** Prints findings to standard error, in colour if it is a terminal. */
export function printFindings(findings: readonly Diagnostic[]): void {
  if (findings.length > 0) stderr.write(renderDiagnostics(findings, { color: wantsColor(stderr) }));
}
