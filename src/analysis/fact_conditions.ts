import { type Node, childrenOf } from '../cel/ast.ts';
import type { AddressSet } from './addresses.ts';
import type { Diagram, Truth } from './diagram.ts';
import type { Reader } from './reader.ts';

/** A condition that reads nothing but facts of the client's address; `otherwise` where they are not known. */
export function byFacts(reader: Reader, node: Node, otherwise: () => Diagram<Truth>): Diagram<Truth> {
  const { setting } = reader;
  if (setting.ofClient === undefined || readOf(reader, node) !== 'facts') return otherwise();
  const found = setting.ofClient(reader.text(node));
  if (found === null || found.yes.length + found.no.length === 0) return otherwise();
  const { atoms, diagrams } = setting;
  const inside = (set: AddressSet): Diagram<Truth> =>
    set.length === 0
      ? diagrams.false
      : diagrams.atom(atoms.address('client address', set, `the facts say that \`${reader.text(node)}\``));
  const rest = diagrams.choose(inside(found.no), diagrams.false, otherwise(), diagrams.error);
  return diagrams.choose(inside(found.yes), diagrams.true, rest, diagrams.error);
}

/** Whether a node reads facts of the client's address, only constants, or something else. */
function readOf(reader: Reader, node: Node): 'facts' | 'nothing' | 'other' {
  const variable = reader.variable(node);
  if (variable !== null) return variable.startsWith('conn.geo.') ? 'facts' : 'other';
  if (node.kind === 'select' && reader.variable(node.operand) === 'conn.client_ip') return 'facts';
  if (node.kind === 'name' || node.kind === 'macro' || node.kind === 'bind') return 'other';
  const children = node.kind === 'has' ? [node.select] : childrenOf(node);
  const read = new Set(children.map((each) => readOf(reader, each)));
  return read.has('other') ? 'other' : read.has('facts') ? 'facts' : 'nothing';
}
