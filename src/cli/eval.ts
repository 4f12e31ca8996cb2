import type { Command } from 'commander';
import { type Diagnostic, type Source, hasErrors } from '../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../diagnostics/json.ts';
import { type Step, explain, tracer } from '../cel/explain.ts';
import { type Program, compile } from '../cel/program.ts';
import { type Type, formatType } from '../cel/types.ts';
import { EvalError, type Outcome, type Value } from '../cel/values.ts';
import type { Activation } from '../policy/env/activation.ts';
import { encodeJson, textOf } from '../policy/env/json.ts';
import { compileTemplate } from '../policy/env/template.ts';
import { EXIT } from './exit_codes.ts';
import { printFindings } from './terminal.ts';
import { expressionText, outcomeText, partOf, partsText, valuesOfParts } from '../edge/expression_values.ts';
import { findingOf, placed } from './expression_error.ts';
import { type ExpressionInput, type InputOptions, addInputOptions, inputOrNull } from './expression_input.ts';
import { LONGEST_PRINTED, valueText } from '../cel/value_text.ts';
import { textOrJson } from './reporter_option.ts';
import { stderr, stdout } from './output.ts';

/** Maximum characters of a value in a step: an expression can have thousands of steps. */
const MAX_STEP_TEXT = 2_000;
const CUT = `the value is longer than ${LONGEST_PRINTED} characters and is cut at the …\n`;

interface Options extends InputOptions {
  readonly template?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/**
 * `edgeproof eval`: exits with 0 for any value, 2 for wrong usage, 3 when the expression has errors, 4 when
 * it fails.
 */
export function register(command: Command): void {
  command.argument('<expression>', 'expression, such as "req.url.path.startsWith(\'/api/\')"');
  textOrJson(addInputOptions(command))
    .option('--template', 'the argument is a template with ${…}; prints its text')
    .option('--explain', 'also print the value of every sub-expression')
    .action(async (expression: string, options: Options) => {
      process.exitCode = await evaluate(expression, options);
    });
}

async function evaluate(expression: string, options: Options): Promise<number> {
  const read = await inputOrNull(options);
  if (read === null) return EXIT.usage;
  const { input, diagnostics } = read;
  if (input === null) return refused(diagnostics, options);
  print(diagnostics);
  const isTemplate = options.template === true;
  const source: Source = { name: isTemplate ? '<template>' : '<expression>', text: expression };
  return isTemplate ? evaluateTemplate(source, input, options) : evaluateExpression(source, input, options);
}

function evaluateExpression(
  source: Source,
  { scope, activation }: ExpressionInput,
  options: Options,
): number {
  const { program, diagnostics } = compile(source.text, scope);
  const found = placed(diagnostics, source);
  if (program === undefined) return refused(found, options);
  if (options.explain === true) return explainProgram(source, program, activation, found, options);
  const outcome = program.evaluate(activation);
  if (outcome instanceof EvalError) return failed(outcome, found, source, options);
  if (options.json === true)
    printJson({ type: formatType(program.type), ...valueJson(outcome), ...warnings(found) });
  else {
    print(found);
    const text = valueText(outcome, LONGEST_PRINTED);
    stdout.write(`${text}\n`);
    if (text.endsWith('…')) stderr.write(CUT);
  }
  return EXIT.ok;
}

function evaluateTemplate(source: Source, input: ExpressionInput, options: Options): number {
  const { scope, activation, service } = input;
  const parts: TracedPart[] = [];
  const watch = <A>(program: Program<A>, start: number): Program<A> => {
    const traced = tracer(program);
    parts.push({ source: program.source, start, steps: traced.steps });
    return { ...program, evaluate: traced.evaluate };
  };
  const isExplained = options.explain === true;
  const { template, diagnostics } = compileTemplate(source.text, scope, {
    service,
    ...(isExplained && { watch }),
  });
  const found = placed(diagnostics, source);
  if (template === undefined) return refused(found, options);
  const outcome = template.evaluate(activation);
  if (isExplained) return explainTemplate(source, template.type, outcome, parts, found, options);
  if (outcome instanceof EvalError) return failed(outcome, found, source, options);
  const text = textOf(outcome);
  if (text instanceof EvalError) return failed(text, found, source, options);
  if (options.json === true) {
    printJson({ type: formatType(template.type), ...valueJson(outcome), text, ...warnings(found) });
  } else {
    print(found);
    stdout.write(`${text}\n`);
  }
  return EXIT.ok;
}

function explainProgram(
  source: Source,
  program: Program<Activation>,
  activation: Activation,
  found: readonly Diagnostic[],
  options: Options,
): number {
  const explanation = explain(program, activation);
  const { outcome, steps } = explanation;
  if (options.json === true) {
    const isError = outcome instanceof EvalError;
    printJson({
      type: formatType(program.type),
      ...(isError ? { error: errorJson(outcome) } : valueJson(outcome)),
      steps: steps.map((step) => stepJson(step, source.text)),
      ...warnings(found),
    });
    return isError ? EXIT.runtime : EXIT.ok;
  }
  stdout.write(`${expressionText(source.text, explanation)}\n`);
  if (outcome instanceof EvalError) return failed(outcome, found, source, options);
  print(found);
  return EXIT.ok;
}

/** An expression of a template, evaluated with the value of each of its parts. */
interface TracedPart {
  readonly source: string;
  /** Offset in the template. */
  readonly start: number;
  readonly steps: () => readonly Step[];
}

/** The template above the parts of its expressions; those after one that failed were not evaluated. */
function explainTemplate(
  source: Source,
  type: Type,
  outcome: Outcome,
  parts: readonly TracedPart[],
  found: readonly Diagnostic[],
  options: Options,
): number {
  const text = outcome instanceof EvalError ? outcome : textOf(outcome);
  const isError = text instanceof EvalError;
  if (options.json === true) {
    printJson({
      type: formatType(type),
      ...(isError ? { error: errorJson(text) } : { ...valueJson(outcome), text }),
      steps: parts.flatMap(({ source: own, start, steps }) =>
        steps().map((step) => stepJson(step, own, start)),
      ),
      ...warnings(found),
    });
    return isError ? EXIT.runtime : EXIT.ok;
  }
  const span = { start: 0, end: source.text.length };
  const whole = partOf(source.text, span, 0, outcomeText(text, source.text, span));
  const values = parts.flatMap(({ source: own, steps }) => valuesOfParts(own, { steps: steps() }, 1));
  stdout.write(`${partsText([whole, ...values])}\n`);
  if (isError) return failed(text, found, source, options);
  print(found);
  return EXIT.ok;
}

/** `at` is the offset of the expression in what the user wrote; a replaced old spelling may be longer than what it replaces. */
function stepJson({ span: { start, end }, outcome, times, skipped }: Step, text: string, at = 0): object {
  const place = { source: text.slice(start, end), start: Math.max(0, start + at), end: end + at, times };
  if (skipped !== undefined) return { ...place, skipped: skipped.reason };
  if (outcome === undefined) return place;
  return outcome instanceof EvalError
    ? { ...place, error: errorJson(outcome) }
    : { ...place, ...valueJson(outcome, MAX_STEP_TEXT) };
}

function refused(diagnostics: readonly Diagnostic[], options: Options): number {
  if (options.json === true) printJson({ diagnostics: diagnosticsToJson(diagnostics) });
  else print(diagnostics);
  return hasErrors(diagnostics) ? EXIT.configInvalid : EXIT.ok;
}

function failed(error: EvalError, found: readonly Diagnostic[], source: Source, options: Options): number {
  if (options.json === true) printJson({ error: errorJson(error), ...warnings(found) });
  else print([...found, findingOf(error, source)]);
  return EXIT.runtime;
}

/** The value as far as JSON can represent it, and as an expression would write it. */
function valueJson(value: Value, longest = LONGEST_PRINTED): object {
  const json = encodeJson(value);
  const written = valueText(value, longest);
  if (json instanceof EvalError) return { value: null, value_error: json.message, written };
  if (json.length > longest) return { value: null, value_error: 'the value is too long', written };
  return { value: JSON.parse(json) as unknown, written };
}

function errorJson({ code, message, span }: EvalError): object {
  return { code, message, start: span?.start ?? null, end: span?.end ?? null };
}

function warnings(found: readonly Diagnostic[]): object {
  return found.length === 0 ? {} : { diagnostics: diagnosticsToJson(found) };
}

function printJson(value: object): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Findings go to stderr, so that the value on stdout can be piped. */
function print(diagnostics: readonly Diagnostic[]): void {
  printFindings(diagnostics);
}
