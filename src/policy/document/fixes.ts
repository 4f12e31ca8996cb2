import type { Diagnostic, Fix, Source } from '../../diagnostics/diagnostic.ts';

/** A text after fixes. */
export interface Fixed {
  readonly text: string;
  /** The findings whose fix was applied, in the order of application. */
  readonly applied: readonly Diagnostic[];
}

export interface FixOptions {
  /** Also apply fixes that guess; the default is only fixes that surely keep the meaning. */
  readonly unsafe?: boolean;
}

const ROUNDS = 20;
/** Maximum number of fixes that are tried individually per round; each costs a check of the whole text. */
const SINGLES = 30;

/** Applies the fixes of findings about `text` at once. Of overlapping fixes the first in the text wins. */
export function applyFixes(
  text: string,
  diagnostics: readonly Diagnostic[],
  options: FixOptions = {},
): Fixed {
  const applied: Diagnostic[] = [];
  let fixed = '';
  let done = 0;
  for (const diagnostic of inOrder(text, diagnostics, options)) {
    const { span, text: replacement } = diagnostic.fix;
    if (span.start < done || (span.start === done && applied.length > 0 && span.end === span.start)) continue;
    fixed += text.slice(done, span.start) + replacement;
    done = span.end;
    applied.push(diagnostic);
  }
  return { text: fixed + text.slice(done), applied };
}

type Fixable = Diagnostic & { readonly fix: Fix };

function inOrder(
  text: string,
  diagnostics: readonly Diagnostic[],
  { unsafe = false }: FixOptions,
): Fixable[] {
  return diagnostics
    .filter(
      (one): one is Fixable => one.fix !== undefined && (unsafe || one.fix.safe) && one.source?.text === text,
    )
    .toSorted(
      (one, other) => one.fix.span.start - other.fix.span.start || one.fix.span.end - other.fix.span.end,
    );
}

/**
 * Fixes a text as far as possible: checks, applies fixes, and checks again, because one fix may reveal another
 * finding. A round that would leave more errors than before is undone, and its fixes are tried individually.
 */
export function fixSource(
  source: Source,
  check: (source: Source) => readonly Diagnostic[],
  options: FixOptions = {},
): Fixed {
  const applied: Diagnostic[] = [];
  let { text } = source;
  let diagnostics = check(source);
  for (let round = 0; round < ROUNDS; round++) {
    const step = bestStep(source.name, text, diagnostics, check, options);
    if (step === undefined) break;
    applied.push(...step.applied);
    ({ text, diagnostics } = step);
  }
  return { text, applied };
}

interface Step extends Fixed {
  readonly diagnostics: readonly Diagnostic[];
}

/** All fixes at once if that helps, otherwise the first single one that does; undefined if none helps. */
function bestStep(
  name: string,
  text: string,
  diagnostics: readonly Diagnostic[],
  check: (source: Source) => readonly Diagnostic[],
  options: FixOptions,
): Step | undefined {
  const fixable = inOrder(text, diagnostics, options);
  const singles = fixable.length > 1 ? fixable.slice(0, SINGLES).map((one) => [one]) : [];
  const tries = [fixable, ...singles];
  for (const these of tries) {
    const fixed = applyFixes(text, these, options);
    if (fixed.applied.length === 0 || fixed.text === text) continue;
    const after = check({ name, text: fixed.text });
    if (isBetter(diagnostics, fixed.applied, after)) return { ...fixed, diagnostics: after };
  }
  return undefined;
}

/** Whether the fixed findings are gone without new errors, unless errors had hidden the new ones. */
function isBetter(
  before: readonly Diagnostic[],
  applied: readonly Diagnostic[],
  after: readonly Diagnostic[],
): boolean {
  const errorsBefore = before.filter(isError);
  const errorsAfter = after.filter(isError);
  if (errorsAfter.length < errorsBefore.length) return true;
  if (errorsBefore.length > 0 && errorsBefore.every((one) => applied.includes(one))) {
    return !errorsAfter.some((one) => errorsBefore.some((other) => isSame(one, other)));
  }
  return errorsAfter.length === errorsBefore.length && after.length < before.length;
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

function isSame(one: Diagnostic, other: Diagnostic): boolean {
  return one.code === other.code && one.pointer === other.pointer && one.message === other.message;
}
