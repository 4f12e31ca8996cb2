/**
 * Which names an expression may use, and how an activation supplies them.
 *
 * A scope is a list of variables, each a *dotted path* with a CEL type, and a function table:
 *
 * ```ts
 * interface RequestActivation { readonly req: { readonly method: string; readonly url: Url } }
 *
 * const URL = stringWithFields('Url', {
 *   path: { type: STRING, doc: 'Path.', read: (url: Url) => url.path },
 *   port: { type: INT, doc: 'Port, when written.', optional: true, read: (url: Url) => url.port },
 * }, (url: Url) => url.raw);
 *
 * const scope = declareScope<RequestActivation>({
 *   name: 'on_http_request',
 *   functions: STANDARD,
 *   variables: [
 *     variable('req.method', STRING, 'Method, as received.', { read: (a) => a.req.method }),
 *     variable('req.url', URL, 'The request URL.', { read: (a) => a.req.url, readText: (a) => a.req.rawUrl }),
 *     variable('req.headers', headerMap(), 'Header fields.', { read: (a) => a.req.headers }),
 *   ],
 *   unavailable: [{ name: 'res', message: 'the response is known from on_http_response on' }],
 * });
 * ```
 *
 * - The activation is any object the host likes: a plain object, a class with lazily computed getters. The
 *   engine never looks into it; it calls `read`, a *literal* property access (`(a) => a.req.method`), so
 *   each path is a direct, monomorphic load. Without `read`, the path is walked by name (`a['x']['y']`),
 *   which is for tests and for scopes made of data (`vars.*`).
 * - `read` gives a run-time value (`values.ts`), or undefined when the variable is absent. Only variables
 *   declared `optional` may be absent; selecting an absent one is an error value, `has(…)` is false.
 * - The longest declared path wins: with `req.url` and `req.url.path` both declared, `req.url.path` is one
 *   read. Prefixes of declared paths (`req`) are namespaces and not values.
 * - A *string with fields* is declared with `stringWithFields`; the value is the host's object, and `text`
 *   makes the string of it. `readText` is optional: the string straight from the activation, for the many
 *   expressions that never look at a field.
 * - A *header map* has type `headerMap()` and is an object made by `headerFields()` with lower-case keys.
 *   Constant keys are folded at plan time.
 * - A map of variables known only by the configuration (`vars`) is declared as `vars` with type
 *   `map(STRING, DYN)` and a `stringMap()`.
 */
import type { FunctionTable } from './function_table.ts';
import type { TextForm } from './text_forms.ts';
import type { Field, Type } from './types.ts';
import type { Value } from './values.ts';

export interface Variable<A = unknown> {
  /** Dotted path, such as `req.headers`. */
  readonly name: string;
  readonly type: Type;
  /** One sentence for the generated page and for completion. */
  readonly doc: string;
  readonly optional: boolean;
  /** Often absent: reading it without a test gives a warning. */
  readonly oftenAbsent: boolean;
  readonly read: (activation: A) => Value | undefined;
  /** For strings with fields: the string without its object. */
  readonly readText?: (activation: A) => string;
}

/** A path (and everything below it) that exists in another phase; `message` completes "`res.status_code`: …". */
export interface Unavailable {
  readonly name: string;
  readonly message: string;
}

export interface Scope<A = unknown> {
  readonly name: string;
  readonly variables: ReadonlyMap<string, Variable<A>>;
  /** Proper prefixes of declared paths. */
  readonly namespaces: ReadonlySet<string>;
  readonly unavailable: readonly Unavailable[];
  readonly functions: FunctionTable<A>;
  /** Names are also resolved below this path, longest first (CEL name resolution); `''` for none. */
  readonly container: string;
  readonly allowance?: Allowance<A>;
  /** Forms of the texts of variables, by name. */
  readonly forms?: ReadonlyMap<string, TextForm>;
}

/** Units that all evaluations on one activation may use together, besides the budget of each. */
export interface Allowance<A> {
  /** Undefined outside of an exchange. */
  readonly left: (activation: A) => number | undefined;
  readonly spend: (activation: A, units: number) => void;
}

export interface ScopeDeclaration<A> {
  readonly name: string;
  readonly functions: FunctionTable<A> | FunctionTable;
  readonly variables: readonly Variable<A>[];
  readonly unavailable?: readonly Unavailable[];
  readonly container?: string;
  readonly allowance?: Allowance<A>;
  readonly forms?: ReadonlyMap<string, TextForm>;
}

export interface VariableOptions<A> {
  readonly optional?: boolean;
  readonly oftenAbsent?: boolean;
  readonly read?: (activation: A) => Value | undefined;
  readonly readText?: (activation: A) => string;
}

export function variable<A = unknown>(
  name: string,
  type: Type,
  doc: string,
  options: VariableOptions<A> = {},
): Variable<A> {
  const read = options.read ?? (walk(name.split('.')) as (activation: A) => Value | undefined);
  const { optional = false, oftenAbsent = false } = options;
  const base = { name, type, doc, optional, oftenAbsent, read };
  return options.readText === undefined ? base : { ...base, readText: options.readText };
}

/** Freezes a list of variables into a scope. If a path is declared twice, the last declaration wins. */
export function declareScope<A = unknown>(declaration: ScopeDeclaration<A>): Scope<A> {
  const variables = new Map<string, Variable<A>>();
  const namespaces = new Set<string>();
  for (const declared of declaration.variables) {
    variables.set(declared.name, declared);
    for (let dot = declared.name.lastIndexOf('.'); dot > 0; dot = declared.name.lastIndexOf('.', dot - 1)) {
      namespaces.add(declared.name.slice(0, dot));
    }
  }
  return {
    name: declaration.name,
    variables,
    namespaces,
    unavailable: declaration.unavailable ?? [],
    functions: declaration.functions,
    container: declaration.container ?? '',
    ...(declaration.allowance && { allowance: declaration.allowance }),
    ...(declaration.forms && { forms: declaration.forms }),
  };
}

/**
 * Possible continuations of a path, for completion and suggestions: `namesUnder(scope, 'req.')`; `''` lists the
 * roots.
 */
export function namesUnder<A>(scope: Scope<A>, prefix: string): string[] {
  const names = new Set<string>();
  for (const name of scope.variables.keys()) {
    if (!name.startsWith(prefix)) continue;
    const rest = name.slice(prefix.length);
    const dot = rest.indexOf('.');
    names.add(dot < 0 ? rest : rest.slice(0, dot));
  }
  for (const name of fieldsUnder(scope, prefix)) names.add(name);
  return [...names].sort();
}

function fieldsUnder<A>(scope: Scope<A>, prefix: string): string[] {
  const path = prefix.split('.').slice(0, -1);
  for (let length = path.length; length > 0; length -= 1) {
    let type = scope.variables.get(path.slice(0, length).join('.'))?.type;
    if (type === undefined) continue;
    for (const name of path.slice(length)) type = type === undefined ? undefined : fieldOf(type, name)?.type;
    return type?.kind === 'object' ? Object.keys(type.fields) : [];
  }
  return [];
}

/** A declared field of an object type; undefined for other types and undeclared names. */
export function fieldOf(type: Type, name: string): Field | undefined {
  return type.kind === 'object' && Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
}

function walk(path: readonly string[]): (activation: Record<string, unknown>) => Value | undefined {
  const [first = '', second] = path;
  if (second === undefined) return (activation) => own(activation, first) as Value | undefined;
  return (activation) => {
    let at: unknown = activation;
    for (const name of path) at = own(at, name);
    return at as Value | undefined;
  };
}

/** A property or getter of the object or its class, never one of `Object.prototype`. */
function own(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null) return undefined;
  if (name in Object.prototype && !Object.hasOwn(object, name)) return undefined;
  return (object as Record<string, unknown>)[name];
}

/** Whether a path, or one of its prefixes, exists in another phase. */
export function isUnavailable<A>(scope: Scope<A>, name: string): boolean {
  return scope.unavailable.some((one) => name === one.name || name.startsWith(`${one.name}.`));
}
