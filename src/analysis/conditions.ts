import type { Node } from '../cel/ast.ts';
import type { Program } from '../cel/program.ts';
import type { Activation } from '../policy/env/activation.ts';
import { byFacts } from './fact_conditions.ts';
import { comparison, textTest, truth } from './comparisons.ts';
import type { Diagram, Truth } from './diagram.ts';
import { presence, presenceOfValue } from './presence.ts';
import { quantified } from './quantifiers.ts';
import { type Bound, Reader, type TypedExpression } from './reader.ts';
import { LEFT_BEHIND, type Setting } from './setting.ts';

/** The requests for which an expression is true, false or an error, as a diagram. */
export function conditionDiagram(
  program: Pick<Program<Activation>, 'typed'>,
  setting: Setting,
): Diagram<Truth> {
  return truthOf(new Reader(program.typed, setting), program.typed.ast.root);
}

function truthOf(reader: Reader, node: Node): Diagram<Truth> {
  const { diagrams } = reader.setting;
  switch (node.kind) {
    case 'literal':
      if (typeof node.value === 'boolean') return node.value ? diagrams.true : diagrams.false;
      return opaque(reader, node);
    case 'logic': {
      const terms = node.terms.map((term) => truthOf(reader, term));
      return terms.reduce((sum, term) =>
        node.operator === '&&' ? diagrams.and(sum, term) : diagrams.or(sum, term),
      );
    }
    case 'unary':
      return node.operator === '!' ? diagrams.not(truthOf(reader, node.operand)) : opaque(reader, node);
    case 'conditional':
      if (reader.typed.types[node.id]?.kind !== 'bool') return opaque(reader, node);
      return diagrams.choose(
        truthOf(reader, node.condition),
        truthOf(reader, node.yes),
        truthOf(reader, node.no),
        diagrams.error,
      );
    case 'has':
      return byFacts(
        reader,
        node,
        () => presence(reader, node) ?? presenceOfValue(reader, node) ?? opaque(reader, node),
      );
    case 'binary':
      return byFacts(
        reader,
        node,
        () => presence(reader, node) ?? comparison(reader, node) ?? opaque(reader, node),
      );
    case 'call':
      return byFacts(
        reader,
        node,
        () => presence(reader, node) ?? textTest(reader, node) ?? opaque(reader, node),
      );
    case 'name': {
      const resolved = reader.resolved(node);
      if (resolved !== node) return truthOf(reader, resolved);
      return truth(reader, node) ?? opaque(reader, node);
    }
    case 'select':
    case 'index':
      return byFacts(reader, node, () => truth(reader, node) ?? opaque(reader, node));
    case 'bind':
      return truthOf(boundIn(reader, node), node.body);
    case 'macro':
      return quantified(reader, node, truthOf) ?? opaque(reader, node);
    case 'list':
    case 'map':
    case 'message':
      return opaque(reader, node);
  }
}

/** An error of the value matters only where the name is read, so that the name means its value. */
function boundIn(reader: Reader, node: Extract<Node, { kind: 'bind' }>): Reader {
  const meaning = reader.typed.meanings[node.id];
  const bound: Bound = { node: node.value };
  return meaning?.means === 'declares' ? reader.with(meaning.locals[0]!, bound) : reader;
}

/** A condition of which only the text is known. It may also fail. */
function opaque(reader: Reader, node: Node): Diagram<Truth> {
  const { typed, setting } = reader;
  const { atoms, diagrams } = setting;
  // The same text means something else where a local name stands for another value.
  const source = reader.opaqueText(node);
  const changes = setting.changesOf(reader.some(node, readsLeftBehind(typed)) ? 'vars' : 'exchange');
  const spelling =
    setting.path === 'as_is' || !/\burl\b/.test(source) ? '' : ` with the path ${setting.path}`;
  const chance = reader.some(node, isChance(typed)) ? ` #${setting.occurrence()}` : '';
  const key = `${source}${spelling} after ${changes} of ${setting.surroundings(source)}${chance}`;
  const text = reader.text(node);
  const fails = diagrams.atom(atoms.opaque(`error of ${key}`, `whether \`${text}\` fails`));
  const holds = diagrams.atom(atoms.opaque(key, `\`${text}\``));
  return diagrams.choose(fails, diagrams.error, holds, diagrams.error);
}

/** Whether a node is something that other actions have set. */
function readsLeftBehind({ meanings }: TypedExpression): (node: Node) => boolean {
  return ({ id }) => {
    const meaning = meanings[id];
    return meaning?.means === 'variable' && LEFT_BEHIND.test(meaning.variable.name);
  };
}

/** Whether a node draws a number. */
function isChance({ meanings }: TypedExpression): (node: Node) => boolean {
  return ({ id }) => {
    const meaning = meanings[id];
    return meaning?.means === 'call' && meaning.candidates.some((each) => each.id.startsWith('rand_'));
  };
}
