/**
 * A tree of a YAML or JSON text that is being typed. It is always there: what does not parse is recovered by indentation, so
 * that a bracket or a quote without its end takes no more than its own value. For texts that parse, keys and scalars have
 * the places that `readDocument` gives them. What is wrong with a text is for the checker to say.
 */
export type YamlNode = YamlMap | YamlList | YamlScalar | YamlAlias;

interface Part {
  readonly start: number;
  readonly end: number;
  readonly anchor?: string | undefined;
}

export interface YamlMap extends Part {
  readonly kind: 'map';
  readonly entries: readonly YamlEntry[];
}

export interface YamlEntry {
  readonly key: YamlScalar;
  /** Null if nothing is written. */
  readonly value: YamlNode | null;
}

export interface YamlList extends Part {
  readonly kind: 'list';
  /** Null for a marker without an element. */
  readonly items: readonly (YamlNode | null)[];
  /** Offset of the marker of each element; absent in brackets. */
  readonly dashes: readonly number[];
  /** Which of the elements are known apart from the rest of the text; absent if that is not needed. */
  readonly placed?: readonly (PlacedItem | null)[];
}

type ScalarStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded';

/** The span has the quotes, or the header of a block text. */
export interface YamlScalar extends Part {
  readonly kind: 'scalar';
  readonly style: ScalarStyle;
}

export interface YamlAlias extends Part {
  readonly kind: 'alias';
  readonly name: string;
}

/**
 * An element of a block list whose node depends on nothing but its own lines and the marker after them, so that it need
 * not be read again while they stay the same.
 */
export interface KnownItem {
  /** Offsets of its marker and of the next one, as they were when it was read. */
  readonly start: number;
  readonly next: number;
  readonly column: number;
  /** How deep it is nested: what is too deep has no node. */
  readonly depth: number;
  readonly node: YamlNode | null;
  readonly inner: readonly PlacedItem[];
  /** What was derived from it, by who derives. */
  readonly derived: Map<object, unknown>;
}

/** An item, and how far it has moved since it was read. */
export interface PlacedItem {
  readonly item: KnownItem;
  readonly by: number;
}

export interface ItemReading {
  readonly start: number;
  readonly column: number;
  /** Reads the node, and moves to what comes after it. */
  readonly node: () => YamlNode | null;
}

export interface ReadItem {
  readonly node: YamlNode | null;
  /** Null if its lines alone do not say where it ends. */
  readonly placed: PlacedItem | null;
}

/** Reads the elements of block lists, or gives those that are known. */
export interface ItemReader {
  take(scanner: Scanner): PlacedItem | null;
  read(scanner: Scanner, reading: ItemReading): ReadItem;
}

/** Texts nested deeper than this are not read. */
export const DEPTH_LIMIT = 100;

/** A cursor in a text, or in a part of one. */
export class Scanner {
  at: number;
  lineStart: number;
  depth = 0;
  readonly text: string;
  readonly end: number;
  readonly items: ItemReader;

  constructor(text: string, start: number, end: number, items: ItemReader) {
    this.text = text;
    this.end = end;
    this.items = items;
    this.at = start;
    this.lineStart = text.lastIndexOf('\n', start - 1) + 1;
    if (text.charCodeAt(this.lineStart) === 0xfeff) this.lineStart++;
    if (this.at < this.lineStart) this.at = this.lineStart;
  }

  get isDone(): boolean {
    return this.at >= this.end;
  }

  get column(): number {
    return this.at - this.lineStart;
  }

  get character(): string {
    return this.isDone ? '' : this.text[this.at]!;
  }

  /** Whether the text at an offset is a space, a line break or the end. */
  isBlankAt(offset: number): boolean {
    if (offset >= this.end) return true;
    const code = this.text.charCodeAt(offset);
    return code === 32 || code === 10 || code === 13 || code === 9;
  }

  skipSpaces(): void {
    while (this.at < this.end) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 9) return;
      this.at++;
    }
  }

  /** The end of the line at an offset, before its break. */
  lineEnd(offset = this.at): number {
    let end = this.text.indexOf('\n', offset);
    if (end < 0 || end > this.end) end = this.end;
    return end > offset && this.text[end - 1] === '\r' ? end - 1 : end;
  }

  /** Whether nothing but a comment follows on the line. */
  get isAtLineEnd(): boolean {
    if (this.isDone) return true;
    const code = this.text.charCodeAt(this.at);
    if (code === 10 || code === 13) return true;
    return code === 35 && (this.at === this.lineStart || this.isBlankAt(this.at - 1));
  }

  /** Moves to the next content: over spaces, comments, line breaks, markers of documents and directives. */
  skipToContent(): void {
    for (;;) {
      this.skipSpaces();
      if (this.isDone) return;
      const code = this.text.charCodeAt(this.at);
      if (code === 10 || code === 13) {
        this.at++;
        if (code === 10) this.lineStart = this.at;
      } else if (this.isAtLineEnd || (code === 37 && this.at === this.lineStart)) this.at = this.lineEnd();
      else if (this.at === this.lineStart && this.isMarker()) this.at += 3;
      else return;
    }
  }

  private isMarker(): boolean {
    const marker = this.text.slice(this.at, this.at + 3);
    return (marker === '---' || marker === '...') && this.isBlankAt(this.at + 3);
  }

  get isDash(): boolean {
    return this.character === '-' && this.isBlankAt(this.at + 1);
  }
}
