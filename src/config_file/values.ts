import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
import type { Alias, Document, Node, YAMLMap } from 'yaml';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { UNREADABLE } from './document.ts';
import { keyText, spanOfNode } from './locate.ts';
import { quotedFrom } from './syntax_fixes.ts';
import type { ReadingCode } from './codes.ts';
import type { Report } from '../diagnostics/report.ts';
import { quoted } from '../diagnostics/message_text.ts';

/** Maximum nesting of lists and maps: an edge file, the deepest kind, needs nine levels. */
const DEPTH_LIMIT = 64;
/** Maximum number of values that aliases may expand to, so that ten lines cannot become a billion values. */
const ALIASED_LIMIT = 100_000;

/** The target node of each alias. */
export type AliasTargets = Map<Alias, Node>;

interface Building {
  /** The kind of file, with its article. */
  readonly called: string;
  readonly report: Report<ReadingCode>;
  readonly targets: AliasTargets;
  /** Anchors in the order of the text: a later anchor replaces an earlier one of the same name. */
  readonly anchors: Map<string, Node>;
  /** Values built below an alias so far. */
  aliased: number;
  /** Findings that are reported once. */
  readonly reported: Set<'too_deep' | 'alias_limit'>;
}

/**
 * The plain value of a document without syntax errors: objects, arrays, strings, numbers, booleans and null;
 * null if nesting or aliases exceed a limit, because then it was not read to its end. Fills `targets`.
 */
export function valueOf(
  document: Document,
  targets: AliasTargets,
  called: string,
  report: Report<ReadingCode>,
): { value: unknown } | null {
  const building: Building = { called, report, targets, anchors: new Map(), aliased: 0, reported: new Set() };
  const value = build(document.contents, { pointer: '', depth: 0, inAlias: false }, building);
  return building.reported.size > 0 ? null : { value };
}

interface At {
  readonly pointer: string;
  readonly depth: number;
  readonly inAlias: boolean;
}

function below({ pointer, depth, inAlias }: At, key: string | number): At {
  return { pointer: pointerTo(pointer, key), depth: depth + 1, inAlias };
}

function build(node: unknown, at: At, building: Building): unknown {
  const { report, reported, anchors } = building;
  if (at.inAlias && ++building.aliased > ALIASED_LIMIT) return UNREADABLE;
  if (at.depth > DEPTH_LIMIT) {
    if (!reported.has('too_deep')) report('too_deep', at.pointer, `nested deeper than ${DEPTH_LIMIT} levels`);
    reported.add('too_deep');
    return UNREADABLE;
  }
  if (isAlias(node)) return buildAlias(node, at, building);
  if (!isNode(node)) return null;
  if ('anchor' in node && node.anchor !== undefined) anchors.set(node.anchor, node);
  if (node.tag !== undefined && !PLAIN_TAGS.test(node.tag)) {
    const tag = node.tag.replace('tag:yaml.org,2002:', '!!');
    report('unknown_tag', at.pointer, `the tag '${tag}' has no meaning in ${building.called}`);
    return UNREADABLE;
  }
  if (isMap(node)) return buildMap(node, at, building);
  if (isSeq(node)) return node.items.map((item, index) => build(item, below(at, index), building));
  return isScalar(node) ? node.value : null;
}

const PLAIN_TAGS = /^(?:!|tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq))$/;

function buildAlias(alias: Alias, at: At, building: Building): unknown {
  const { report, targets, anchors, reported } = building;
  const target = targets.get(alias) ?? anchors.get(alias.source);
  if (target === undefined) {
    report('unknown_alias', at.pointer, `no anchor '&${alias.source}' is defined before this alias`, {
      hint: `a text that begins with * needs quotes`,
      fix: {
        message: 'put it in quotes',
        safe: false,
        edit: (text, { start }) => quotedFrom(text, start, false),
      },
    });
    return UNREADABLE;
  }
  targets.set(alias, target);
  const value = build(target, { ...at, depth: at.depth + 1, inAlias: true }, building);
  if (!at.inAlias && building.aliased > ALIASED_LIMIT && !reported.has('alias_limit')) {
    report('alias_limit', at.pointer, `aliases expand to more than ${ALIASED_LIMIT} values`);
    reported.add('alias_limit');
  }
  return value;
}

function buildMap(map: YAMLMap, at: At, building: Building): object {
  const { report } = building;
  const entries: Record<string, unknown> = {};
  const seen = new Set<string>();
  for (const { key, value } of map.items) {
    const text = keyText(key);
    if (text === '<<' && isScalar(key) && key.type === 'PLAIN') {
      const message =
        'YAML 1.2 has no merge keys (<<): repeat the entries, or use an alias for the whole map';
      report('bad_key', at.pointer, message, { span: spanOfNode(key) });
    } else if (text === null || text === '__proto__') {
      const message = text === null ? 'a key has to be a string' : `${quoted(text)} cannot be used as a key`;
      report('bad_key', at.pointer, message, { span: spanOfNode(key) });
    } else if (seen.has(text)) {
      const message = `duplicate key ${quoted(text)}`;
      const pointer = pointerTo(at.pointer, text);
      report('duplicate_key', pointer, message, { span: spanOfNode(key), first: pointer });
    } else {
      seen.add(text);
      entries[text] = build(value, below(at, text), building);
    }
  }
  return entries;
}
