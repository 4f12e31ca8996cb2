import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { SeenKind } from '../editing/keys_seen.ts';
import type { NameKind, Occurrence } from '../editing/names.ts';
import { TextFacts, isOurs, uriOfName } from './open_file.ts';
import { isDocumentName } from '../config_file/document.ts';

/** Larger files, deeper folders and more files are not searched for names. */
const FILE_LIMIT_BYTES = 1_000_000;
const DEPTH_LIMIT = 5;
const ENTRIES_LIMIT = 5_000;
const FILES_LIMIT = 300;

interface OnDisk {
  readonly modifiedMs: number;
  /** Null for a file that is not ours. */
  readonly facts: TextFacts | null;
}

/** A name in one of the files of a project. */
export interface Located {
  readonly facts: TextFacts;
  readonly occurrence: Occurrence;
}

/** Open texts, and the files on disk that belong together with them: each names the other, directly or through others. */
export class Project {
  readonly #open: (uri: string) => TextDocument | undefined;
  readonly #all: () => readonly TextDocument[];
  #made = new WeakMap<TextDocument, { readonly version: number; readonly facts: TextFacts }>();
  readonly #disk = new Map<string, OnDisk>();
  #folders: readonly string[] = [];
  #paths: readonly string[] | null = null;

  constructor(open: (uri: string) => TextDocument | undefined, all: () => readonly TextDocument[]) {
    this.#open = open;
    this.#all = all;
  }

  setFolders(folders: readonly string[]): void {
    this.#folders = folders;
    this.#paths = null;
  }

  /** A path of the settings: relative to the first folder. */
  pathOf(path: string): string {
    return resolve(this.#folders[0] ?? '.', path);
  }

  /** Files were made, changed or removed. */
  changedOnDisk(): void {
    this.#paths = null;
    this.#disk.clear();
  }

  /** Forgets what is known of the texts: it takes memory, also while nothing is typed. */
  rest(): void {
    this.#made = new WeakMap();
  }

  /** The facts of an open text in its newest version. */
  factsOf(document: TextDocument): TextFacts {
    const known = this.#made.get(document);
    if (known?.version === document.version) return known.facts;
    const facts = new TextFacts(document, known?.facts);
    this.#made.set(document, { version: document.version, facts });
    return facts;
  }

  /** The text and all that belong together with it. */
  connected(facts: TextFacts): readonly TextFacts[] {
    const own = resolve(facts.name);
    const all = new Map(this.#files(dirname(own)).map((each) => [resolve(each.name), each]));
    all.set(own, facts);
    const links = Array.from(all, ([path, each]) => ({ path, targets: targetsOf(path, each, all) }));
    const joined = new Set([own]);
    for (let size = 0; size < joined.size;) {
      size = joined.size;
      for (const { path, targets } of links)
        if (joined.has(path)) for (const target of targets) joined.add(target);
        else if (targets.some((target) => joined.has(target))) joined.add(path);
    }
    return [...joined].map((path) => all.get(path)!);
  }

  namesOf(facts: TextFacts): (kind: NameKind) => readonly string[] {
    let names: readonly Occurrence[] | null = null;
    return (kind) => {
      names ??= this.connected(facts).flatMap((each) => each.names);
      return names.filter((each) => each.kind === kind && each.isDeclaration).map(({ name }) => name);
    };
  }

  /** The headers and others that are named in the files that belong together. */
  keysSeen(facts: TextFacts, kind: SeenKind): readonly string[] {
    return this.connected(facts).flatMap((each) => Array.from(each.keysSeen.get(kind) ?? []));
  }

  /** All places of a name in the files that belong together. */
  placesOf(facts: TextFacts, { kind, name }: Pick<Occurrence, 'kind' | 'name'>): readonly Located[] {
    return this.connected(facts).flatMap((each) =>
      each.names
        .filter((other) => other.kind === kind && other.name === name)
        .map((occurrence) => ({ facts: each, occurrence })),
    );
  }

  /** Everything that is declared in the open files, and in those below the folders. */
  declarations(): readonly Located[] {
    return this.#files(this.#folders[0] ?? '.').flatMap((facts) =>
      facts.names.filter(({ isDeclaration }) => isDeclaration).map((occurrence) => ({ facts, occurrence })),
    );
  }

  #files(beside: string): readonly TextFacts[] {
    const open = this.#all().map((document) => this.factsOf(document));
    const paths = new Set([...(this.#paths ??= pathsIn(this.#folders)), ...pathsIn([beside], 1)]);
    for (const { name } of open) paths.delete(resolve(name));
    const disk: TextFacts[] = [];
    for (const path of paths) {
      if (disk.length >= FILES_LIMIT) break;
      const facts = this.#fromDisk(path);
      if (facts !== null) disk.push(facts);
    }
    return [...open, ...disk];
  }

  #fromDisk(path: string): TextFacts | null {
    try {
      const { mtimeMs: modifiedMs, size } = statSync(path);
      const known = this.#disk.get(path);
      if (known?.modifiedMs === modifiedMs) return known.facts;
      const text = size > FILE_LIMIT_BYTES ? '' : readFileSync(path, 'utf8');
      const uri = uriOfName(path);
      const facts = isOurs(path, text) ? new TextFacts(TextDocument.create(uri, 'yaml', 0, text)) : null;
      this.#disk.set(path, { modifiedMs, facts });
      return facts;
    } catch {
      return null; // it was removed in between
    }
  }

  /** The open text of a file, or what is on disk; null if it is neither. */
  factsAt(path: string): TextFacts | null {
    const document = this.#open(uriOfName(path));
    return document === undefined ? this.#fromDisk(path) : this.factsOf(document);
  }
}

/** Those of all files that a file names. */
function targetsOf(path: string, facts: TextFacts, all: ReadonlyMap<string, TextFacts>): readonly string[] {
  return facts.mentions.flatMap(({ path: mentioned }) => {
    const target = resolve(dirname(path), mentioned);
    if (all.has(target)) return [target];
    if (!/[*?[{]/.test(mentioned)) return [];
    return Array.from(all.keys()).filter((other) => matchesGlob(relative('/', other), relative('/', target)));
  });
}

/** YAML and JSON files below folders, without those of packages and hidden ones. */
function pathsIn(folders: readonly string[], depth: number = DEPTH_LIMIT): readonly string[] {
  const found: string[] = [];
  let left = ENTRIES_LIMIT;
  const enter = (folder: string, levels: number): void => {
    let entries;
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      return; // it is not there, or may not be read
    }
    for (const entry of entries) {
      if (left-- <= 0) return;
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && levels > 1) enter(path, levels - 1);
      else if (entry.isFile() && isDocumentName(entry.name)) found.push(path);
    }
  };
  for (const folder of folders) enter(folder, depth);
  return found;
}
