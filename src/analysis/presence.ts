import type { Binary, Has, Node } from '../cel/ast.ts';
import type { Diagram, Truth } from './diagram.ts';
import { numberTerm } from './number_terms.ts';
import type { Reader } from './reader.ts';
import { ABSENCE, isAbsent, presenceOf } from './term_conditions.ts';
import { chainOf, memberNamed, testedField, textTerm } from './terms.ts';
import { OR_FAIL } from './texts/readings.ts';

/** Whether a header field, a parameter or a cookie is there. */
export function presence(reader: Reader, node: Node): Diagram<Truth> | null {
  const field = testedField(reader, node);
  if (field === null) return node.kind === 'binary' ? keyOfValue(reader, node) : null;
  const { atoms, diagrams } = reader.setting;
  const name = presenceOf(reader.setting, field);
  return diagrams.not(diagrams.atom(atoms.text(name, ABSENCE, `${field} is absent`)));
}

/** `'lane' in vars`. */
function keyOfValue(reader: Reader, { operator, left, right }: Binary): Diagram<Truth> | null {
  const type = reader.typed.types[right.id];
  const key = operator === 'in' && type?.kind === 'map' ? reader.string(left) : null;
  const chain = key === null || reader.variable(right) === null ? null : chainOf(reader, right);
  if (chain === null || type?.kind !== 'map' || type.value.kind !== 'dyn') return null;
  const absent = isAbsent(reader, { field: `any ${memberNamed(chain, key!)}`, readings: [OR_FAIL] });
  return absent === null ? null : reader.setting.diagrams.not(absent);
}

/** Whether a member or a variable is there that something else than the request decides. */
export function presenceOfValue(reader: Reader, node: Has): Diagram<Truth> | null {
  const { diagrams } = reader.setting;
  const { select } = node;
  const meaning = reader.typed.meanings[select.id];
  if (meaning?.means === 'variable') {
    const { variable } = meaning;
    return variable.optional ? readable(reader, select, variable.name) : diagrams.true;
  }
  if (select.optional) return null;
  const chain = chainOf(reader, select);
  const operand = chainOf(reader, select.operand);
  if (chain === null || operand === null) return null;
  const isThere = readable(reader, select, chain);
  // What cannot be read cannot be asked for a member.
  const whole = reader.typed.meanings[select.operand.id];
  if (whole?.means === 'variable' && !whole.variable.optional) return isThere;
  const isWhole = readable(reader, select.operand, operand);
  if (isThere === null || isWhole === null) return null;
  return diagrams.choose(isWhole, isThere, diagrams.error, diagrams.error);
}

/** Whether a value can be read. */
function readable(reader: Reader, node: Node, chain: string): Diagram<Truth> | null {
  const type = reader.typed.types[node.id]?.kind;
  const known = type === 'bool' ? null : (textTerm(reader, node) ?? numberTerm(reader, node)?.term ?? null);
  const field = type === 'bool' ? `truth ${chain}` : type === 'dyn' ? `any ${chain}` : chain;
  const absent = isAbsent(reader, known ?? { field, readings: [OR_FAIL] });
  return absent === null ? null : reader.setting.diagrams.not(absent);
}
