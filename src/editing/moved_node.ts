import type { YamlAlias, YamlEntry, YamlList, YamlMap, YamlNode, YamlScalar } from './yaml_tree.ts';

/** A node as it is after text was added or removed before it. Its parts are moved when they are first needed. */
export function movedNode<Node extends YamlNode | null>(node: Node, by: number): Node {
  return node === null || by === 0 ? node : (moved(node, by) as Node);
}

function moved(node: YamlNode, by: number): YamlNode {
  switch (node.kind) {
    case 'map':
      return new MovedMap(node, by);
    case 'list':
      return new MovedList(node, by);
    default:
      return movedWord(node, by);
  }
}

function movedWord<Word extends YamlScalar | YamlAlias>(word: Word, by: number): Word {
  return { ...word, start: word.start + by, end: word.end + by };
}

class MovedMap implements YamlMap {
  readonly kind = 'map';
  readonly start: number;
  readonly end: number;
  readonly anchor: string | undefined;
  readonly #from: YamlMap;
  readonly #by: number;
  #entries: readonly YamlEntry[] | null = null;

  constructor(from: YamlMap, by: number) {
    this.#from = from;
    this.#by = by;
    this.start = from.start + by;
    this.end = from.end + by;
    this.anchor = from.anchor;
  }

  get entries(): readonly YamlEntry[] {
    return (this.#entries ??= this.#from.entries.map(({ key, value }) => ({
      key: movedWord(key, this.#by),
      value: movedNode(value, this.#by),
    })));
  }
}

class MovedList implements YamlList {
  readonly kind = 'list';
  readonly start: number;
  readonly end: number;
  readonly anchor: string | undefined;
  readonly #from: YamlList;
  readonly #by: number;
  #items: readonly (YamlNode | null)[] | null = null;

  constructor(from: YamlList, by: number) {
    this.#from = from;
    this.#by = by;
    this.start = from.start + by;
    this.end = from.end + by;
    this.anchor = from.anchor;
  }

  get items(): readonly (YamlNode | null)[] {
    return (this.#items ??= this.#from.items.map((item) => movedNode(item, this.#by)));
  }

  get dashes(): readonly number[] {
    return this.#from.dashes.map((dash) => dash + this.#by);
  }
}
