import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { suggest } from '../diagnostics/suggest.ts';
import { explain } from '../cel/explain.ts';
import { compile } from '../cel/program.ts';
import { formatType } from '../cel/types.ts';
import { EvalError } from '../cel/values.ts';
import { SCOPE_PHASES, isScopePhase } from '../filters/phase.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { expressionText } from '../edge/expression_values.ts';
import { findingOf, placed } from './expression_error.ts';
import type { ExpressionInput } from './expression_input.ts';
import { valueText } from '../cel/value_text.ts';

export interface Answer {
  /** The text to print, without a final line break; may be empty. */
  readonly text: string;
  /** The input for the next lines. */
  readonly input: ExpressionInput;
  readonly ends: boolean;
}

interface Look {
  readonly color: boolean;
}

type Run = (rest: string, input: ExpressionInput, look: Look) => Partial<Answer> & { readonly text: string };

interface ReplCommand {
  readonly name: string;
  readonly argument: string;
  readonly message: string;
  readonly run: Run;
}

const COMMANDS: readonly ReplCommand[] = [
  {
    name: 'help',
    argument: '[name]',
    message: 'lists the commands, or describes a variable or function',
    run: help,
  },
  {
    name: 'explain',
    argument: 'EXPRESSION',
    message: 'prints the value of every sub-expression',
    run: explainLine,
  },
  { name: 'type', argument: 'EXPRESSION', message: 'prints the type, without evaluating', run: typeLine },
  { name: 'set', argument: 'NAME = EXPRESSION', message: 'sets vars.NAME', run: setLine },
  {
    name: 'phase',
    argument: '[PHASE]',
    message: `prints or changes the phase: ${SCOPE_PHASES.join(', ')}`,
    run: phaseLine,
  },
  { name: 'quit', argument: '', message: 'quits; so does Ctrl-D', run: () => ({ text: '', ends: true }) },
];

/** Command names with their colon, for completion. */
export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => `:${name}`);

/** The answer to a line that the user typed. Never throws. */
export function answerTo(line: string, input: ExpressionInput, look: Look): Answer {
  const text = line.trim();
  if (text === '') return { text: '', input, ends: false };
  if (!text.startsWith(':')) return { text: evaluateLine(text, input, look), input, ends: false };
  const [word = '', ...rest] = text.slice(1).split(/\s+/);
  const command = COMMANDS.find(({ name }) => name === word || (word !== '' && name.startsWith(word)));
  if (command === undefined) {
    const near = suggest(
      word,
      COMMANDS.map(({ name }) => name),
    );
    const hint = near === undefined ? ':help lists them' : `did you mean :${near}?`;
    return { text: `there is no command :${word}; ${hint}`, input, ends: false };
  }
  return { input, ends: false, ...command.run(rest.join(' '), input, look) };
}

function evaluateLine(text: string, { scope, activation }: ExpressionInput, look: Look): string {
  const source: Source = { name: '<line>', text };
  const { program, diagnostics } = compile(text, scope);
  const findings = placed(diagnostics, source);
  if (program === undefined) return rendered(findings, look);
  const outcome = program.evaluate(activation);
  if (outcome instanceof EvalError) return rendered([...findings, findingOf(outcome, source)], look);
  return [rendered(findings, look), valueText(outcome)].filter((part) => part !== '').join('\n');
}

function rendered(diagnostics: readonly Diagnostic[], look: Look): string {
  return renderDiagnostics(diagnostics, look).trimEnd();
}

function explainLine(
  text: string,
  { scope, activation }: ExpressionInput,
  look: Look,
): { readonly text: string } {
  if (text === '') return { text: ':explain needs an expression' };
  const source: Source = { name: '<line>', text };
  const { program, diagnostics } = compile(text, scope);
  if (program === undefined) return { text: rendered(placed(diagnostics, source), look) };
  return { text: expressionText(text, explain(program, activation)) };
}

function typeLine(text: string, { scope }: ExpressionInput, look: Look): { readonly text: string } {
  if (text === '') return { text: ':type needs an expression' };
  const { program, diagnostics } = compile(text, scope);
  if (program === undefined) return { text: rendered(placed(diagnostics, { name: '<line>', text }), look) };
  return { text: formatType(program.type) };
}

function setLine(
  text: string,
  { scope, activation }: ExpressionInput,
  look: Look,
): { readonly text: string } {
  const parts = /^([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)\s*(.+)$/s.exec(text);
  if (parts === null) return { text: 'write :set NAME = EXPRESSION' };
  const [, name = '', expression = ''] = parts;
  const source: Source = { name: '<line>', text: expression };
  const { program, diagnostics } = compile(expression, scope);
  if (program === undefined) return { text: rendered(placed(diagnostics, source), look) };
  const value = program.evaluate(activation);
  if (value instanceof EvalError) return { text: rendered([findingOf(value, source)], look) };
  activation.setVar(name, value);
  return { text: `vars.${name} = ${valueText(value)}` };
}

function phaseLine(text: string, input: ExpressionInput): Partial<Answer> & { readonly text: string } {
  if (text === '') return { text: input.phase };
  if (!isScopePhase(text))
    return { text: `'${text}' is not a phase; expected one of ${SCOPE_PHASES.join(', ')}` };
  const scope = scopeFor(text, { service: input.service });
  return { text: `phase ${text}`, input: { ...input, phase: text, scope } };
}

function help(name: string, input: ExpressionInput): { readonly text: string } {
  if (name !== '') return { text: aboutName(name, input) };
  const lines = COMMANDS.map((one) => `  :${`${one.name} ${one.argument}`.padEnd(26)}${one.message}`);
  return {
    text: [
      'An expression prints its value; Tab completes variables, fields, functions and methods.',
      ...lines,
    ].join('\n'),
  };
}

function aboutName(name: string, { scope }: ExpressionInput): string {
  const variable = scope.variables.get(name);
  const lines: string[] = [];
  if (variable !== undefined) lines.push(`${name}: ${formatType(variable.type)}`, `  ${variable.doc}`);
  for (const row of scope.functions.rows) {
    if (row.name === name) lines.push(`${name}()`, `  ${row.doc}`, `  ${row.example}`);
  }
  if (lines.length > 0) return lines.join('\n');
  const known = [...scope.variables.keys(), ...scope.functions.functions.keys()];
  const near = suggest(name, known);
  return `there is no variable or function '${name}'${near === undefined ? '' : `; did you mean '${near}'?`}`;
}
