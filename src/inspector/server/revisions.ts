import type { DiffLine, Revision, RevisionDiff } from '../wire.ts';
import type { ConfigurationFiles } from './context.ts';
import { fileTexts } from './files.ts';
import { lineDifferences } from './line_differences.ts';

const MAX_REVISIONS = 50;
/** Texts kept of earlier revisions. */
const TEXT_UNITS = 16_777_216;

interface Known extends Revision {
  readonly texts: ReadonlyMap<string, string>;
}

/** The configurations that were active, with the texts of their files at that time. */
export class Revisions {
  readonly #files: ConfigurationFiles;
  readonly #list: Known[] = [];

  constructor(files: ConfigurationFiles) {
    this.#files = files;
  }

  /** Notes that a configuration became active. */
  add(revision: number, atMs: number): Revision {
    const before = this.#list.at(-1)?.texts ?? null;
    const texts = new Map(fileTexts(this.#files).map(({ name, text }) => [name, text]));
    const names = new Set([...(before?.keys() ?? []), ...texts.keys()]);
    const changedFiles =
      before === null ? [] : [...names].filter((name) => before.get(name) !== texts.get(name));
    const known = { revision, atMs, changedFiles, texts };
    this.#list.push(known);
    while (this.#list.length > MAX_REVISIONS || (this.#list.length > 2 && this.#units() > TEXT_UNITS))
      this.#list.shift();
    return plain(known);
  }

  list(): Revision[] {
    return this.#list.map(plain);
  }

  /** The texts of a revision; null if they are not known. */
  texts(revision: number): ReadonlyMap<string, string> | null {
    return this.#list.find((each) => each.revision === revision)?.texts ?? null;
  }

  /** What a revision changed; null if it or the one before is not known. */
  diff(revision: number): RevisionDiff | null {
    const at = this.#list.findIndex((each) => each.revision === revision);
    const known = this.#list[at];
    const before = this.#list[at - 1];
    if (known === undefined || before === undefined) return null;
    const files = known.changedFiles.map((name) => ({
      name,
      lines: lineDifferences(
        before.texts.get(name) ?? '',
        known.texts.get(name) ?? '',
      ) as readonly DiffLine[],
    }));
    return { ...plain(known), files };
  }

  /** A text that did not change is the same one, and counts once. */
  #units(): number {
    let units = 0;
    for (const { texts, changedFiles } of this.#list) {
      for (const name of changedFiles) units += texts.get(name)?.length ?? 0;
    }
    return units;
  }
}

function plain({ revision, atMs, changedFiles }: Known): Revision {
  return { revision, atMs, changedFiles };
}
