import { compile } from '../expression/program.ts';
import type { Program } from '../expression/program.ts';
import type { Scope } from '../expression/scope.ts';
import { BOOL } from '../expression/types.ts';
import { EvalError, type Outcome, type Value } from '../expression/values.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import { type TemplateOptions, compileTemplate } from '../expression/vocabulary/template.ts';
import { compileTemplateTree } from '../expression/vocabulary/template_tree.ts';
import { FAILURES, Failure } from './failure.ts';

/** An expression, or data with templates in it, ready to evaluate. */
export type Expression = (activation: Activation) => Value | Failure;

/** A text with `${…}`, ready to evaluate. */
export interface Template {
  /** The text where nothing in it has to be evaluated; null otherwise. */
  readonly constant: string | null;
  readonly text: (activation: Activation) => string | Failure;
}

/** The texts of templates, in their order; the first Failure where one has no value. */
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
 * Looks at each expression as it is compiled, and gives the closure that is evaluated in its place: for coverage.
 * `start` is where the expression begins in the text at the pointer.
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
  /** `true` and `false` are answers; anything else is a failure (`conditionFailure`). */
  readonly evaluate: (activation: Activation) => Outcome;
  /** Null when it does not compile, which a checked document never has. */
  readonly program: Program<Activation> | null;
}

/**
 * Compiles one expression of a rule. What was checked compiles; were it otherwise, the rule fails closed when it
 * is reached, as if the expression had met an error.
 */
export function compileCondition(
  text: string,
  pointer: string,
  scope: Scope<Activation>,
  watch?: Watch,
): Condition {
  const { program, diagnostics } = compile(text, scope, { wants: BOOL });
  if (program !== undefined) {
    const evaluate = watch === undefined ? program.evaluate : watch(program, pointer, 0);
    return { text, pointer, evaluate, program };
  }
  const error = new EvalError('expr.internal', diagnostics[0]?.says ?? 'the expression does not compile');
  return { text, pointer, evaluate: () => error, program: null };
}

/** Why a condition that gave neither true nor false stops the request. */
export function conditionFailure({ text, pointer }: Condition, outcome: Outcome): Failure {
  const reason = outcome instanceof EvalError ? outcome.says : 'it is neither true nor false';
  const number = outcome instanceof EvalError ? numberOf(outcome, FAILURES.expression) : FAILURES.expression;
  return new Failure(number, `the expression \`${text}\` has no result: ${reason}`, pointer);
}

/** Compiles a bare expression of an action's config. */
export function compileField(
  text: string,
  pointer: string,
  scope: Scope<Activation>,
  watch?: Watch,
): Expression {
  const { program, diagnostics } = compile(text, scope);
  if (program === undefined) return failing(FAILURES.field, text, diagnostics[0]?.says, pointer);
  const evaluate = watch === undefined ? program.evaluate : watch(program, pointer, 0);
  return (activation) => {
    const outcome = evaluate(activation);
    return outcome instanceof EvalError ? failureOf(FAILURES.field, text, outcome, pointer) : outcome;
  };
}

/** Compiles a text with `${…}` in it. */
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
    const text = failing(FAILURES.interpolation, source, diagnostics[0]?.says, pointer);
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

/** Compiles plain data; every text in it is a template, and keeps its type when it is exactly one `${…}`. */
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
  if (evaluate === undefined) return failing(FAILURES.interpolation, shown, diagnostics[0]?.says, pointer);
  return (activation) => {
    const outcome = evaluate(activation);
    return outcome instanceof EvalError
      ? failureOf(FAILURES.interpolation, shown, outcome, pointer)
      : outcome;
  };
}

/** The option of templates that has their expressions watched. */
function watching(base: string, watch: Watch | undefined): Pick<TemplateOptions, 'watch'> {
  if (watch === undefined) return {};
  return {
    watch: (program, start, at) => {
      // Templates of policies are evaluated over activations, whatever the type of the compiler says.
      const own = program as unknown as Program<Activation>;
      return { ...own, evaluate: watch(own, base + at, start) } as unknown as typeof program;
    },
  };
}

const SHOWN_UNITS = 200;

/** The number of an error: its own where the evaluation was broken off, whatever it was for. */
function numberOf({ code }: EvalError, otherwise: number): number {
  return code === 'expr.budget_exceeded' ? FAILURES.budget : otherwise;
}

function failureOf(number: number, text: string, error: EvalError, pointer: string): Failure {
  return failureSaying(numberOf(error, number), text, error.says, pointer);
}

function failureSaying(number: number, text: string, reason: string, pointer: string): Failure {
  const shown = text.length > SHOWN_UNITS ? `${text.slice(0, SHOWN_UNITS)}…` : text;
  return new Failure(number, `\`${shown}\` has no value: ${reason}`, pointer);
}

function failing(number: number, text: string, reason: string | undefined, pointer: string): () => Failure {
  const failure = failureSaying(number, text, reason ?? 'it does not compile', pointer);
  return () => failure;
}
