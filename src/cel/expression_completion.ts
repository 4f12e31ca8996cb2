import { compile } from './program.ts';
import { type Scope, namesUnder } from './scope.ts';
import { type Type, isTextual, sameType } from './types.ts';

export interface Completion {
  /** Complete replacements for the word. */
  readonly candidates: readonly string[];
  /** The word before the cursor that is replaced. */
  readonly word: string;
}

const WORD = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*\.?$/;
/** A dot after a bracket or a literal. */
const AFTER_VALUE = /[\])'"]\.([A-Za-z_]*)$/;

/** Candidates for the end of a line: variables and fields, functions of a namespace, methods of a type. */
export function complete<A>(line: string, scope: Scope<A>): Completion {
  const afterValue = AFTER_VALUE.exec(line);
  if (afterValue !== null) {
    const word = afterValue[1]!;
    const { program } = compile(operandBefore(line.slice(0, line.length - word.length - 1)), scope);
    const fields = program?.type.kind === 'object' ? Object.keys(program.type.fields) : [];
    // Of what cannot be compiled alone, such as a part with a loop variable, the type is not known.
    return { candidates: starting([...fields, ...methodsOf(scope, program?.type)], word), word };
  }
  const word = WORD.exec(line)?.[0] ?? '';
  const dot = word.lastIndexOf('.');
  if (dot < 0) {
    const names = [...namesUnder(scope, ''), ...globals(scope)];
    return { candidates: starting(names, word), word };
  }
  const prefix = word.slice(0, dot + 1);
  const names = [
    ...namesUnder(scope, prefix),
    ...inNamespace(scope, prefix),
    ...methodsAfter(scope, word.slice(0, dot)),
  ];
  return {
    candidates: starting(
      names.map((name) => prefix + name),
      word,
    ),
    word,
  };
}

/** The operand at the end of a text: names, brackets and literals that dots join. */
export function operandBefore(text: string): string {
  const outer: number[] = [];
  let start = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote !== '') {
      if (letter === '\\') at++;
      else if (letter === quote) quote = '';
    } else if (letter === "'" || letter === '"') quote = letter;
    else if ('([{'.includes(letter)) {
      outer.push(start);
      start = at + 1;
    } else if (')]}'.includes(letter)) start = outer.pop() ?? at + 1;
    else if (!/[\w.]/.test(letter)) start = at + 1;
  }
  return text.slice(start);
}

function starting(names: readonly string[], word: string): string[] {
  return [...new Set(names)].filter((name) => name.startsWith(word)).sort((a, b) => (a < b ? -1 : 1));
}

/** Functions called without a receiver, with their opening bracket; of dotted ones only the first name. */
function globals<A>(scope: Scope<A>): string[] {
  const names: string[] = ['has('];
  for (const { name, overloads } of scope.functions.functions.values()) {
    const isGlobal = overloads.some((overload) => overload.style !== 'method');
    if (!isGlobal || !/^[A-Za-z]/.test(name) || name === 'in') continue;
    const dot = name.indexOf('.');
    names.push(dot < 0 ? `${name}(` : name.slice(0, dot));
  }
  return names;
}

/** For `hash.`: `md5(` and so on. */
function inNamespace<A>(scope: Scope<A>, prefix: string): string[] {
  return [...scope.functions.functions.keys()]
    .filter((name) => name.startsWith(prefix))
    .map((name) => `${name.slice(prefix.length)}(`);
}

function methodsAfter<A>(scope: Scope<A>, path: string): string[] {
  const { program } = compile(path, scope);
  return program === undefined ? [] : methodsOf(scope, program.type);
}

/** Methods of a receiver type; all methods when the type is unknown. */
function methodsOf<A>(scope: Scope<A>, type: Type | undefined): string[] {
  const { functions, macros } = scope.functions;
  const isLoopable = type === undefined || type.kind === 'list' || type.kind === 'map' || type.kind === 'dyn';
  const names = [...functions.values()]
    .filter(({ overloads }) =>
      overloads.some(({ style, params }) => style !== 'global' && fits(type, params[0])),
    )
    .map(({ name }) => `${name}(`);
  for (const { name, variableTypes } of macros.values()) {
    if (
      type === undefined ? true : isLoopable && (type.kind === 'dyn' || variableTypes(type) !== undefined)
    ) {
      names.push(`${name}(`);
    }
  }
  return names;
}

function fits(type: Type | undefined, param: Type | undefined): boolean {
  if (type === undefined || param === undefined || type.kind === 'dyn') return true;
  if (param.kind === 'dyn' || param.kind === 'parameter') return true;
  if (isTextual(param)) return isTextual(type);
  return param.kind === type.kind && (param.kind !== 'object' || sameType(param, type));
}
