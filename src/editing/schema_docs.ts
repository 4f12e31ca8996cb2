import { TYPE_WORDS } from '../diagnostics/message_text.ts';
import { trafficPolicy } from '../policy/facts.ts';
import { type EditedText, type Place, schemasOf } from './edited_text.ts';
import type { SchemaNode } from './schema_places.ts';

/** What the reference says of a key: its sentence, type, limits and default, in Markdown. */
export function docOfPlace({ root }: EditedText, place: Place): string | null {
  const nodes = schemasOf(root, place);
  const own = sentenceOf(nodes);
  // The sentence of a list is also that of its elements.
  const ofList = own === '' && place.path.at(-1) === '*' ? { ...place, path: place.path.slice(0, -1) } : null;
  const sentence = ofList === null ? own : sentenceOf(schemasOf(root, ofList));
  const facts = factsOf(nodes, place.path.at(-1) === trafficPolicy.module.type);
  const parts = [sentence, facts.join(' · ')].filter((part) => part !== '');
  return parts.length === 0 ? null : parts.join('\n\n');
}

function sentenceOf(nodes: readonly SchemaNode[]): string {
  return nodes.find(({ description = '' }) => description !== '')?.description ?? '';
}

/** The sentence of an enumeration's owner or of a type of action: `deny` below `type`. */
export function docOfType({ root }: EditedText, place: Place, word: string): string | null {
  const path = place.path.slice(0, -1);
  const nodes = schemasOf(root, { ...place, path });
  const own = nodes.find(({ properties }) => properties?.[place.path.at(-1)!]?.const === word);
  return own?.description ?? null;
}

function factsOf(nodes: readonly SchemaNode[], isPolicy: boolean): string[] {
  // Of several alternatives each has its type; the first has the limits.
  const types = new Set(nodes.flatMap((node) => typesOf(node)));
  const node = nodes.find(({ type, enum: words }) => type !== undefined || words !== undefined);
  if (node === undefined || isPolicy) return [];
  const facts = [[...types].join(' or ')];
  // Alternatives may have a value each.
  const words = new Set(nodes.flatMap((each) => each.enum ?? (each.const === undefined ? [] : [each.const])));
  if (words.size > 0) facts.push(`one of ${Array.from(words, (word) => `\`${String(word)}\``).join(', ')}`);
  if (node.form !== undefined) facts.push(node.form);
  if (node.minimum !== undefined || node.maximum !== undefined) facts.push(rangeOf(node));
  const { default: preset } = nodes.find((each) => each.default !== undefined) ?? {};
  if (preset !== undefined) facts.push(`default \`${JSON.stringify(preset)}\``);
  return facts.filter((fact) => fact !== '');
}

function typesOf({ type, kind }: SchemaNode): string[] {
  if (kind !== undefined) return [kind.replaceAll('_', ' ')];
  const types = type === undefined ? [] : typeof type === 'string' ? [type] : type;
  return types.map((each) => TYPE_WORDS[each as keyof typeof TYPE_WORDS] ?? each);
}

function rangeOf({ minimum, maximum }: SchemaNode): string {
  if (isOpen(minimum) && isOpen(maximum)) return '';
  if (isOpen(maximum)) return `at least ${minimum}`;
  return isOpen(minimum) ? `at most ${maximum}` : `${minimum} to ${maximum}`;
}

function isOpen(limit: number | undefined): boolean {
  return limit === undefined || Math.abs(limit) >= Number.MAX_SAFE_INTEGER;
}
