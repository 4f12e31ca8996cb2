import type { Diagnostic } from './diagnostic.ts';
import { type DiagnosticJson, diagnosticsToJson } from './json.ts';
import { xml } from './xml.ts';

/** Findings as JUnit XML: a suite for each file, with a case for each finding: those of errors fail, those of warnings pass. */
export function diagnosticsJunit(list: readonly Diagnostic[], files: readonly string[]): string {
  const all = diagnosticsToJson(list);
  const names = new Set([...files, ...all.map(({ file }) => file ?? '')]);
  const suites = Array.from(names, (name) =>
    suite(
      name,
      all.filter(({ file }) => (file ?? '') === name),
    ),
  );
  const failures = all.filter(({ severity }) => severity === 'error').length;
  const tests = suites.reduce((sum, { count }) => sum + count, 0);
  const head = `<testsuites name="edgeproof check" tests="${tests}" failures="${failures}" errors="0" time="0">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${suites.map(({ text }) => text).join('')}</testsuites>\n`;
}

function suite(
  name: string,
  found: readonly DiagnosticJson[],
): { readonly count: number; readonly text: string } {
  const failures = found.filter(({ severity }) => severity === 'error').length;
  const count = Math.max(1, found.length);
  const head = `  <testsuite name="${xml(name)}" tests="${count}" failures="${failures}" errors="0" skipped="0" file="${xml(name)}" time="0">\n`;
  const clean = `    <testcase name="no problems found" classname="${xml(name)}" time="0"/>\n`;
  const cases = found.length === 0 ? clean : found.map((each) => testcase(name, each)).join('');
  return { count, text: `${head}${cases}  </testsuite>\n` };
}

function testcase(name: string, { range, severity, code, message, hint, notes }: DiagnosticJson): string {
  const place = range === null ? name : `${name}:${range.start.line}:${range.start.column}`;
  const head = `    <testcase name="${xml(`${code} at ${place}`)}" classname="${xml(name)}" time="0">`;
  const text = xml(
    [`${place} ${severity} ${code} ${message}`, ...(hint === null ? [] : [hint]), ...notes].join('\n'),
  );
  const body =
    severity === 'error'
      ? `<failure message="${xml(message)}">${text}</failure>`
      : `<system-out>${text}</system-out>`;
  return `${head}${body}</testcase>\n`;
}
