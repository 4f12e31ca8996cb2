import { type Node, dottedPath, walkNodes } from '../../cel/ast.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';
import type { Found } from './expressions.ts';
import type { Findings } from './findings.ts';
import { type PolicyText, mapIn } from './policy_text.ts';

/** Functions and macros that the service does not document: math, optional values, bindings and more macros. */
const NAMES: ReadonlySet<string> = new Set([
  'existsOne',
  'hasValue',
  'optFlatMap',
  'optMap',
  'or',
  'orValue',
  'transformList',
  'transformMap',
  'value',
]);
const NAMESPACES: ReadonlySet<string> = new Set(['math', 'optional']);

/** Reports features of expressions that the service does not document. */
export function checkAdditions(
  policy: PolicyText,
  findings: Findings,
  pointer: string,
  text: string,
  found: readonly Found[],
): void {
  for (const { root, start } of found) {
    walkNodes(root, (node) => {
      const addition = additionIn(node);
      if (addition === undefined) return;
      const { what, at } = addition;
      const span = mapIn(policy, pointer, text)?.spanOf({ start: at.start + start, end: at.end + start });
      findings.report(
        'policy.addition',
        pointer,
        `${what} works here, but the service does not document it`,
        {
          span,
        },
      );
    });
  }
}

interface Addition {
  readonly what: string;
  readonly at: Span;
}

function additionIn(node: Node): Addition | undefined {
  if (node.kind === 'bind') return { what: 'cel.bind', at: node.span };
  if (node.kind === 'index' || node.kind === 'select')
    return node.optional ? { what: 'the optional access with `?`', at: node.span } : undefined;
  if (node.kind === 'macro') {
    const { macro, variables, nameSpan } = node;
    const isKnown = !NAMES.has(macro.name) && (variables.length === 1 || macro.name === 'sort');
    return isKnown ? undefined : { what: `\`${macro.name}\` with these arguments`, at: nameSpan };
  }
  if (node.kind !== 'call') return undefined;
  const namespace = node.target === undefined ? undefined : dottedPath(node.target)?.join('.');
  if (namespace !== undefined && NAMESPACES.has(namespace))
    return { what: `\`${namespace}.${node.name}\``, at: node.nameSpan };
  return NAMES.has(node.name) ? { what: `\`${node.name}\``, at: node.nameSpan } : undefined;
}
