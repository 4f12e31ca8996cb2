import { withArticle } from '../diagnostics/message_text.ts';
import { suggest } from '../diagnostics/suggest.ts';
import type { Diagnostic, Span } from '../diagnostics/diagnostic.ts';
import { type Call, type Node, type Select, dottedName, dottedPath, pathRoot } from './ast.ts';
import { type Checker, report } from './checking.ts';
import type { FunctionRow } from './function_table.ts';
import { functionMeant } from './habits.ts';
import { namesUnder } from './scope.ts';
import { TYPE_NAMES } from './std/conversions.ts';
import type { Local, Meaning } from './typed.ts';
import { type Type, DYN, formatType, isTextual, TYPE } from './types.ts';

export interface Found<A> {
  readonly type: Type;
  readonly meaning: Meaning<A>;
}

/** The meaning of a name or dotted path as a whole: a loop variable, a variable of the scope, a type. */
export function findName<A>(checker: Checker<A>, node: Node): Found<A> | undefined {
  const root = pathRoot(node);
  if (root === undefined) return undefined;
  const local = root.absolute ? undefined : localNamed(checker.locals, root.name);
  if (local !== undefined)
    return node === root ? { type: local.type, meaning: { means: 'local', local } } : undefined;
  const name = dottedName(node)!;
  const { container } = checker.scope;
  if (root.absolute || container === '') return declared(checker, name);
  for (const candidate of qualified(container, name)) {
    const found = declared(checker, candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A variable of the scope, or a type. */
function declared<A>({ scope }: Checker<A>, name: string): Found<A> | undefined {
  const variable = scope.variables.get(name);
  if (variable !== undefined) return { type: variable.type, meaning: { means: 'variable', variable } };
  const value = TYPE_NAMES.get(name);
  return value === undefined ? undefined : { type: TYPE, meaning: { means: 'constant', value } };
}

function localNamed(innermost: Local | undefined, name: string): Local | undefined {
  for (let local = innermost; local !== undefined; local = local.outer) {
    if (local.name === name) return local;
  }
  return undefined;
}

/** In container `a.b`, `x` can be `a.b.x`, `a.x` or `x` (language definition, Name Resolution). */
function qualified(container: string, name: string): readonly string[] {
  if (container === '') return [name];
  const candidates: string[] = [];
  for (let at = container; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.'))))
    candidates.push(`${at}.${name}`);
  return [...candidates, name];
}

export interface CallTarget<A> {
  readonly row: FunctionRow<A> | undefined;
  /** The receiver of a method call; undefined for `f(x)` and `namespace.f(x)`. */
  readonly receiver: Node | undefined;
}

/** `hash.md5(x)` is the function of that name if there is one, otherwise a method of `hash`. */
export function functionCandidates<A>(checker: Checker<A>, node: Call): CallTarget<A> {
  const { functions, namespaces } = checker.scope.functions;
  const { target } = node;
  if (target === undefined) {
    const { container } = checker.scope;
    if (node.absolute || container === '') return { row: functions.get(node.name), receiver: undefined };
    const names = qualified(container, node.name);
    return {
      row: names.map((name) => functions.get(name)).find((row) => row !== undefined),
      receiver: undefined,
    };
  }
  const root = pathRoot(target);
  if (
    root !== undefined &&
    namespaces.has(root.name) &&
    localNamed(checker.locals, root.name) === undefined
  ) {
    const row = functions.get(`${dottedName(target)}.${node.name}`);
    if (row !== undefined) return { row, receiver: undefined };
  }
  return { row: functions.get(node.name), receiver: target };
}

/** `req` for `request`: the only name of three letters and more that the word begins with. */
function shortFor(word: string, candidates: readonly string[]): string | undefined {
  const short = candidates.filter((name) => name.length >= 3 && name !== word && word.startsWith(name));
  return short.length === 1 ? short[0] : undefined;
}

function guess(word: string, candidates: readonly string[], span: Span): Partial<Diagnostic> {
  const meant = functionMeant(word);
  const near =
    meant !== undefined && candidates.includes(meant)
      ? meant
      : (suggest(word, candidates) ?? shortFor(word, candidates));
  if (near === undefined) return {};
  return {
    hint: `did you mean '${near}'?`,
    fix: { message: `replace with '${near}'`, span, text: near, safe: false },
  };
}

/** Reports a name that is not in the scope. `path` is the complete path. */
export function unknownName<A>(checker: Checker<A>, node: Node, path: readonly string[]): Type {
  const name = path.join('.');
  const span = node.kind === 'select' ? node.fieldSpan : node.span;
  const elsewhere = checker.scope.unavailable.find(
    (one) => name === one.name || name.startsWith(`${one.name}.`),
  );
  const message =
    elsewhere === undefined ? `unknown variable \`${name}\`` : `\`${name}\`: ${elsewhere.message}`;
  checker.meanings[node.id] = { means: 'nothing', message };
  if (elsewhere !== undefined) {
    report(checker, 'expr.unavailable', node.span, message);
    return DYN;
  }
  if (checker.scope.namespaces.has(name)) {
    const under = namesUnder(checker.scope, `${name}.`);
    const notes = [`it has: ${under.join(', ')}`];
    report(checker, 'expr.unknown_variable', node.span, `\`${name}\` is a group of variables, not a value`, {
      notes,
    });
    return DYN;
  }
  const parent = path.slice(0, -1);
  const siblings = [
    ...(parent.length === 0 ? localNames(checker.locals) : []),
    ...namesUnder(checker.scope, parent.length === 0 ? '' : `${parent.join('.')}.`),
  ];
  const near = guess(path.at(-1) ?? '', siblings, span);
  const deeper = near.hint === undefined ? deeperName(checker, path) : undefined;
  if (deeper !== undefined) {
    const fix = { message: `write ${deeper}`, span: node.span, text: deeper, safe: false };
    const hint = `did you mean '${deeper}'?`;
    report(checker, 'expr.unknown_variable', span, message, { hint, fix });
    return DYN;
  }
  const only =
    near.hint === undefined && siblings.length === 1 ? { hint: `it can only be '${siblings[0]}'` } : near;
  const notes =
    only.hint === undefined && siblings.length > 1 ? { notes: [`known: ${siblings.join(', ')}`] } : {};
  report(checker, 'expr.unknown_variable', span, message, { ...only, ...notes });
  return DYN;
}

/** `req.path` for `req.url.path`: the only variable of the group with this last name. */
function deeperName<A>({ scope }: Checker<A>, path: readonly string[]): string | undefined {
  if (path.length < 2) return undefined;
  const [group, last] = [`${path[0]}.`, `.${path.at(-1)}`];
  const names = [...scope.variables.keys()].filter((name) => name.startsWith(group) && name.endsWith(last));
  return names.length === 1 ? names[0] : undefined;
}

function localNames(innermost: Local | undefined): string[] {
  const names: string[] = [];
  for (let local = innermost; local !== undefined; local = local.outer) names.push(local.name);
  return names;
}

export function unknownField<A>(checker: Checker<A>, node: Select, operand: Type): Type {
  const span = node.fieldSpan;
  const message = `a value of type ${formatType(operand)} has no field \`${node.field}\``;
  checker.meanings[node.id] = { means: 'nothing', message };
  const fields = operand.kind === 'object' ? Object.keys(operand.fields) : [];
  const meant = operand.kind === 'object' && !isTextual(operand) ? undefined : functionMeant(node.field);
  const more =
    meant === 'size'
      ? {
          hint: 'did you mean size()?',
          fix: { message: 'call size()', span, text: 'size()', safe: false },
        }
      : guess(node.field, fields, span);
  report(checker, 'expr.no_such_field', span, message, more);
  return DYN;
}

export function unknownFunction<A>(checker: Checker<A>, node: Call, types: readonly Type[]): Type {
  const { functions, macros } = checker.scope.functions;
  const path = node.target === undefined ? undefined : dottedPath(node.target);
  const receiver = types.length > node.args.length ? types[0] : undefined;
  const message =
    receiver === undefined || receiver.kind === 'dyn'
      ? `unknown function \`${[...(path ?? []), node.name].join('.')}\``
      : `${withArticle(formatType(receiver))} has no method \`${node.name}\``;
  checker.meanings[node.id] = { means: 'nothing', message };
  if (checker.diagnostics.some((known) => known.span !== undefined && within(known.span, node.target?.span)))
    return DYN;
  const known = [...functions.keys(), ...Array.from(macros.values(), (macro) => macro.name)];
  const qualifiedNames = known.filter((name) => /^[A-Za-z]/.test(name) && !name.includes('.'));
  const inNamespace = known
    .filter((name) => name.startsWith(`${path?.join('.')}.`))
    .map((name) => name.slice(name.lastIndexOf('.') + 1));
  const candidates = inNamespace.length > 0 ? inNamespace : qualifiedNames;
  const hint =
    receiver?.kind === 'map' && node.name === 'get'
      ? { hint: "a value is read as map['key']" }
      : guess(node.name, candidates, node.nameSpan);
  report(checker, 'expr.unknown_function', node.nameSpan, message, hint);
  return DYN;
}

function within(inner: Span, outer: Span | undefined): boolean {
  return outer !== undefined && inner.start >= outer.start && inner.end <= outer.end;
}
