import { weakMemoize } from '../caches/weak_memoize.ts';
import { recentValues } from '../caches/recent_values.ts';
import { weakValues } from '../caches/weak_values.ts';
import { type Program, compile } from '../cel/program.ts';
import type { Scope } from '../cel/scope.ts';
import { BOOL } from '../cel/types.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { EvalError, type Outcome, type Value } from '../cel/values.ts';
import type { Activation } from '../policy/env/activation.ts';
import { type TemplateOptions, compileTemplate } from '../policy/env/template.ts';
import { compileTemplateTree } from '../policy/env/template_tree.ts';
import { FAILURES, Failure } from './failure.ts';

/** A compiled expression, or compiled data with templates. */
export type Expression = (activation: Activation) => Value | Failure;

/** A compiled string with `${…}`. */
export interface Template {
  /** The text if it has no expressions; null otherwise. */
  readonly constant: string | null;
  readonly text: (activation: Activation) => string | Failure;
}

/** The texts of templates, in order; the first Failure if one cannot be evaluated. */
export function textsOf(templates: readonly Template[], activation: Activation): readonly string[] | Failure {
  const texts: string[] = [];
  for (const template of templates) {
    const text = template.text(activation);
    if (text instanceof Failure) return text;
    texts.push(text);
  }
  return texts;
}

/**
 * Called for each compiled expression; returns the function to evaluate in its place, for coverage. `start` is
 * the offset of the expression in the string at the pointer.
 */
export type Watch = (
  program: Program<Activation>,
  pointer: string,
  start: number,
) => Program<Activation>['evaluate'];

/** One expression of a rule. */
export interface Condition {
  readonly text: string;
  readonly pointer: string;
  /** Results are `true` and `false`; anything else is a failure (`conditionFailure`). */
  readonly evaluate: (activation: Activation) => Outcome;
  /** Null if it does not compile, which cannot happen for a checked document. */
  readonly program: Program<Activation> | null;
}

/**
 * Compiles one expression of a rule. Checked expressions compile; if one did not, the rule would fail closed,
 * as after an error of the expression.
 */
export function compileCondition(
  text: string,
  pointer: string,
  scope: Scope<Activation>,
  watch?: Watch,
): Condition {
  const compiled = conditionsIn(scope)(text);
  if (compiled instanceof EvalError) return { text, pointer, evaluate: () => compiled, program: null };
  const evaluate = watch === undefined ? compiled.evaluate : watch(compiled, pointer, 0);
  return { text, pointer, evaluate, program: compiled };
}

/**
 * Rules of many routes have the same expressions, and so have two versions of a configuration, and the check and the
 * compilation of a policy.
 */
const conditionsIn = weakMemoize((scope: Scope<Activation>) => weakValues(conditionOf(scope)));

/** Conditions of a check that are kept for equal ones, and for the next check of an editor. */
const RECENT = 256;

const recentConditionsIn = weakMemoize((scope: Scope<Activation>) =>
  recentValues(conditionOf(scope), RECENT),
);

function conditionOf(scope: Scope<Activation>): (text: string) => Program<Activation> | EvalError {
  return (text) => {
    const { program, diagnostics } = compile(text, scope, { wants: BOOL });
    const made =
      program ?? new EvalError('expr.internal', diagnostics[0]?.message ?? 'the expression does not compile');
    if (diagnostics.length > 0) findings.set(made, diagnostics);
    return made;
  };
}

/** What the compiler has found in conditions. */
const findings = new WeakMap<object, readonly Diagnostic[]>();

/** A condition as the compiler sees it: its program if it compiles, and findings. */
interface CompiledCondition {
  readonly program: Program<Activation> | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** As long as this is in use, the condition is not compiled again. */
  readonly kept: object;
}

export function compiledCondition(text: string, scope: Scope<Activation>): CompiledCondition {
  return withFindings(conditionsIn(scope)(text));
}

/**
 * The same for a check after which nothing is compiled. Few programs are kept: those of a large policy are most of what a
 * check makes, and collecting them while they are kept takes a third of its time.
 */
export function checkedCondition(text: string, scope: Scope<Activation>): CompiledCondition {
  return withFindings(recentConditionsIn(scope)(text));
}

function withFindings(kept: Program<Activation> | EvalError): CompiledCondition {
  const program = kept instanceof EvalError ? undefined : kept;
  return { program, diagnostics: findings.get(kept) ?? [], kept };
}

/** The failure of a condition whose result is not a bool. */
export function conditionFailure({ text, pointer }: Condition, outcome: Outcome): Failure {
  const reason = outcome instanceof EvalError ? outcome.message : 'it is not a bool';
  const number = outcome instanceof EvalError ? numberOf(outcome, FAILURES.expression) : FAILURES.expression;
  return new Failure(number, `the expression \`${text}\` failed: ${reason}`, pointer);
}

/** Compiles an expression of an action's config. */
export function compileField(
  text: string,
  pointer: string,
  scope: Scope<Activation>,
  watch?: Watch,
): Expression {
  const { program, diagnostics } = compile(text, scope);
  if (program === undefined) return failing(FAILURES.field, text, diagnostics[0]?.message, pointer);
  const evaluate = watch === undefined ? program.evaluate : watch(program, pointer, 0);
  return (activation) => {
    const outcome = evaluate(activation);
    return outcome instanceof EvalError ? failureOf(FAILURES.field, text, outcome, pointer) : outcome;
  };
}

/** Compiles a string with `${…}`. */
export function compileText(
  source: string,
  pointer: string,
  scope: Scope<Activation>,
  service: string,
  watch?: Watch,
): Template {
  const options = { service, ...watching(pointer, watch) };
  const { template, diagnostics } = compileTemplate(source, scope, options);
  if (template === undefined) {
    const text = failing(FAILURES.interpolation, source, diagnostics[0]?.message, pointer);
    return { constant: null, text };
  }
  const { constant, text: evaluate } = template;
  if (constant !== undefined) return { constant, text: () => constant };
  const text = (activation: Activation): string | Failure => {
    const made = evaluate(activation);
    return typeof made === 'string' ? made : failureOf(FAILURES.interpolation, source, made, pointer);
  };
  return { constant: null, text };
}

/** Compiles plain data; every string in it is a template, and keeps its type if it is exactly one `${…}`. */
export function compileData(
  plain: unknown,
  pointer: string,
  scope: Scope<Activation>,
  service: string,
  watch?: Watch,
): Expression {
  const options = { service, ...watching('', watch) };
  const { evaluate, diagnostics } = compileTemplateTree(plain, scope, pointer, options);
  const shown = JSON.stringify(plain) ?? String(plain);
  if (evaluate === undefined) return failing(FAILURES.interpolation, shown, diagnostics[0]?.message, pointer);
  return (activation) => {
    const outcome = evaluate(activation);
    return outcome instanceof EvalError
      ? failureOf(FAILURES.interpolation, shown, outcome, pointer)
      : outcome;
  };
}

/** The option that makes templates report their expressions to the watcher. */
function watching(base: string, watch: Watch | undefined): Pick<TemplateOptions, 'watch'> {
  if (watch === undefined) return {};
  return {
    watch: (program, start, at) => {
      // Templates of policies are evaluated on activations, whatever the type parameter of the compiler is.
      const own = program as unknown as Program<Activation>;
      return { ...own, evaluate: watch(own, base + at, start) } as unknown as typeof program;
    },
  };
}

const SHOWN_UNITS = 200;

/** The number of an error: its own if a limit was exceeded, whatever the expression is for. */
function numberOf({ code }: EvalError, otherwise: number): number {
  return code === 'expr.budget_exceeded' ? FAILURES.budget : otherwise;
}

function failureOf(number: number, text: string, error: EvalError, pointer: string): Failure {
  return failureWith(numberOf(error, number), text, error.message, pointer);
}

function failureWith(number: number, text: string, reason: string, pointer: string): Failure {
  const shown = text.length > SHOWN_UNITS ? `${text.slice(0, SHOWN_UNITS)}…` : text;
  return new Failure(number, `\`${shown}\` failed: ${reason}`, pointer);
}

function failing(number: number, text: string, reason: string | undefined, pointer: string): () => Failure {
  const failure = failureWith(number, text, reason ?? 'it does not compile', pointer);
  return () => failure;
}
