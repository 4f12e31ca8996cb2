import { MarkupKind, type SignatureHelp } from 'vscode-languageserver/node';
import { scopeFor } from '../../policy/env/scopes.ts';
import { placeAt } from '../../editing/edited_text.ts';
import { callAtEnd, parametersOf } from '../../editing/expression_calls.ts';
import { docOfName } from '../../editing/expression_docs.ts';
import { expressionBefore, scopePlaceOf } from '../../editing/expressions.ts';
import type { TextFacts } from '../open_file.ts';

/** The forms of the function whose brackets an offset is in. */
export function signatureAt(
  { edited }: TextFacts,
  offset: number,
  service: string | undefined,
): SignatureHelp | null {
  const found = placeAt(edited, offset);
  if (found?.node?.kind !== 'scalar' || found.isOnKey) return null;
  const { place, node } = found;
  const before = expressionBefore(edited, place, node, offset);
  const call = before === null ? null : callAtEnd(before);
  if (call === null) return null;
  const { path, argument } = call;
  const scope = scopeFor(scopePlaceOf(edited, place), service === undefined ? {} : { service });
  const known = docOfName(path, true, scope);
  if (known === null) return null;
  // A function may also be a method: the forms of how it is called here count.
  const own = known.forms.filter((form) => isDotted(form.slice(0, form.indexOf('('))) === isDotted(path));
  const signatures = (own.length > 0 ? own : known.forms).map((label) => ({
    label,
    documentation: { kind: MarkupKind.Markdown, value: known.doc },
    parameters: parametersOf(label).map(([start, end]) => ({ label: [start, end] as [number, number] })),
  }));
  const fitting = signatures.findIndex(({ parameters }) => argument < parameters.length);
  const activeSignature = Math.max(fitting, 0);
  const count = signatures[activeSignature]!.parameters.length;
  // The last parameter may stand for any number of arguments.
  return { signatures, activeSignature, activeParameter: Math.max(0, Math.min(argument, count - 1)) };
}

function isDotted(name: string): boolean {
  return name.includes('.');
}
