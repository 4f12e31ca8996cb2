import type { Binary, Call, Node } from './ast.ts';
import { type Checker, report, sourceOf } from './checking.ts';

/** The form of the texts that a variable can have. */
export interface TextForm {
  /** Why another text cannot be the value, as a sentence without its end. */
  readonly rule: string;
  /** Whether the variable can have this text, or one that begins with it. */
  readonly allows: (text: string, isStart: boolean) => boolean;
  /** The text that is probably meant. */
  readonly meant: (text: string) => string | undefined;
}

/** Warns about `path == 'admin'`: a comparison with a text that the variable never has. */
export function adviseText<A>(checker: Checker<A>, node: Binary): void {
  if (node.operator === 'in' && node.right.kind === 'list') {
    for (const element of node.right.elements) compared(checker, node.left, element.node, false);
  } else if (node.operator === '==' || node.operator === '!=') {
    compared(checker, node.left, node.right, false);
    compared(checker, node.right, node.left, false);
  }
}

/** The same for `path.startsWith('admin')`. */
export function adviseStart<A>(checker: Checker<A>, { name, target, args }: Call): void {
  if (name === 'startsWith' && target !== undefined && args.length === 1)
    compared(checker, target, args[0]!, true);
}

function compared<A>(checker: Checker<A>, variable: Node, literal: Node, isStart: boolean): void {
  const meaning = checker.meanings[variable.id];
  if (meaning?.means !== 'variable' || literal.kind !== 'literal' || typeof literal.value !== 'string')
    return;
  const form = checker.scope.forms?.get(meaning.variable.name);
  if (form === undefined || form.allows(literal.value, isStart)) return;
  const name = sourceOf(checker, variable);
  const verb = isStart ? 'never begins with' : 'is never';
  const message = `\`${name}\` ${verb} '${literal.value}': ${form.rule}`;
  const meant = form.meant(literal.value);
  const isMeant = meant !== undefined && meant !== literal.value && form.allows(meant, isStart);
  const quoted = isMeant && !/['\\]/.test(meant) ? `'${meant}'` : undefined;
  const fix = quoted && { message: `write ${quoted}`, span: literal.span, text: quoted, safe: false };
  report(checker, 'expr.impossible_text', literal.span, message, {
    severity: 'warning',
    ...(fix && { hint: `did you mean ${quoted}?`, fix }),
  });
}
