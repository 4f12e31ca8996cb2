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
    case 'scalar':
    case 'alias':
      return movedWord(node, by);
  }
}

function movedWord<Word extends YamlScalar | YamlAlias>(word: Word, by: number): Word {
  return { ...word, start: word.start + by, end: word.end + by };
}

abstract class MovedPart<Part extends YamlMap | YamlList> {
  readonly start: number;
  readonly end: number;
  readonly anchor: string | undefined;
  protected readonly from: Part;
  protected readonly by: number;

  constructor(from: Part, by: number) {
    this.from = from;
    this.by = by;
    this.start = from.start + by;
    this.end = from.end + by;
    this.anchor = from.anchor;
  }
}

class MovedMap extends MovedPart<YamlMap> implements YamlMap {
  readonly kind = 'map';
  #entries: readonly YamlEntry[] | null = null;

  get entries(): readonly YamlEntry[] {
    return (this.#entries ??= this.from.entries.map(({ key, value }) => ({
      key: movedWord(key, this.by),
      value: movedNode(value, this.by),
    })));
  }
}

class MovedList extends MovedPart<YamlList> implements YamlList {
  readonly kind = 'list';
  #items: readonly (YamlNode | null)[] | null = null;

  get items(): readonly (YamlNode | null)[] {
    return (this.#items ??= this.from.items.map((item) => movedNode(item, this.by)));
  }

  get dashes(): readonly number[] {
    return this.from.dashes.map((dash) => dash + this.by);
  }
}
