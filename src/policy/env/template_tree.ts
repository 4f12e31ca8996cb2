import { type Diagnostic, hasErrors, pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Scope } from '../../cel/scope.ts';
import { EvalError, type Outcome, type Value, isError, stringMap } from '../../cel/values.ts';
import { valueOfPlain } from './json.ts';
import { type TemplateOptions, compileTemplate } from './template.ts';

export interface CompiledTree<A> {
  /** The value with every template evaluated; undefined exactly if a diagnostic is an error. */
  readonly evaluate: ((activation: A) => Outcome) | undefined;
  /** Pointers are below the given one; spans are offsets in the string at the pointer. */
  readonly diagnostics: readonly Diagnostic[];
}

const DEPTH_LIMIT = 32;

type Run<A> = (activation: A) => Outcome;

/**
 * Compiles configuration with templates at any depth: each string in its lists and maps (but no keys) is a
 * template; a string that is exactly one `${…}` keeps its type; everything else stays as it is.
 */
export function compileTemplateTree<A>(
  plain: unknown,
  scope: Scope<A>,
  pointer = '',
  options: TemplateOptions = {},
): CompiledTree<A> {
  const diagnostics: Diagnostic[] = [];
  const walk = (node: unknown, at: string, depth: number): Run<A> => {
    if (depth > DEPTH_LIMIT) return refuse(at, `nested deeper than ${DEPTH_LIMIT} levels`);
    if (typeof node === 'string') return string(node, at);
    if (Array.isArray(node)) {
      return listOf(
        (node as unknown[]).map((member, index) => walk(member, pointerTo(at, index), depth + 1)),
      );
    }
    if (typeof node === 'object' && node !== null) {
      const entries = Object.entries(node);
      return mapOf(
        entries.map(([key, member]) => [key, walk(member, pointerTo(at, key), depth + 1)] as const),
      );
    }
    const value = valueOfPlain(node);
    return isError(value) ? refuse(at, value.message) : () => value;
  };
  const string = (source: string, at: string): Run<A> => {
    const { watch } = options;
    const own: TemplateOptions =
      watch === undefined ? options : { ...options, watch: (program, start) => watch(program, start, at) };
    const { template, diagnostics: found } = compileTemplate(source, scope, own);
    for (const one of found) diagnostics.push({ ...one, pointer: at });
    return template?.evaluate ?? (() => source);
  };
  const refuse = (at: string, message: string): Run<A> => {
    diagnostics.push({ code: 'expr.template', severity: 'error', message, pointer: at });
    return () => null;
  };
  const evaluate = walk(plain, pointer, 0);
  return { evaluate: hasErrors(diagnostics) ? undefined : evaluate, diagnostics };
}

function listOf<A>(runs: readonly Run<A>[]): Run<A> {
  return (activation) => {
    const values: Value[] = [];
    for (const run of runs) {
      const value = run(activation);
      if (value instanceof EvalError) return value;
      values.push(value);
    }
    return values;
  };
}

function mapOf<A>(entries: readonly (readonly [string, Run<A>])[]): Run<A> {
  return (activation) => {
    const map = stringMap();
    for (const [key, run] of entries) {
      const value = run(activation);
      if (value instanceof EvalError) return value;
      map[key] = value;
    }
    return map;
  };
}
