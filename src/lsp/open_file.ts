import { fileURLToPath, pathToFileURL } from 'node:url';
import { relative, resolve } from 'node:path';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Range } from 'vscode-languageserver/node';
import type { Span } from '../diagnostics/diagnostic.ts';
import { type EditedText, editedText, entryOf } from '../editing/edited_text.ts';
import { keysSeenIn } from '../editing/keys_seen.ts';
import { type Mention, mentionsIn } from '../editing/mentions.ts';
import { type Occurrence, namesIn } from '../editing/names.ts';
import { isOfKnownKind, isPropertyFile } from '../project_files/file_kind.ts';

/** What is derived from one version of a text, made when it is first needed. */
export class TextFacts {
  readonly document: TextDocument;
  readonly name: string;
  /** The last version whose tree was needed. */
  #before: EditedText | null;
  #edited: EditedText | null = null;
  #names: readonly Occurrence[] | null = null;
  #mentions: readonly Mention[] | null = null;
  #seen: ReturnType<typeof keysSeenIn> | null = null;

  constructor(document: TextDocument, before: TextFacts | null = null) {
    this.document = document;
    this.#before = before === null ? null : (before.#edited ?? before.#before);
    this.name = nameOfUri(document.uri);
  }

  get edited(): EditedText {
    if (this.#edited !== null) return this.#edited;
    this.#edited = editedText(this.document.getText(), this.name, this.#before);
    this.#before = null;
    return this.#edited;
  }

  get names(): readonly Occurrence[] {
    return (this.#names ??= namesIn(this.edited));
  }

  get isScenarioWithCases(): boolean {
    const { root, tree, text } = this.edited;
    return root === 'scenario' && tree?.kind === 'map' && entryOf(text, tree, 'cases') !== null;
  }

  get mentions(): readonly Mention[] {
    return (this.#mentions ??= mentionsIn(this.edited));
  }

  get keysSeen(): ReturnType<typeof keysSeenIn> {
    return (this.#seen ??= keysSeenIn(this.edited));
  }

  spanOf({ start, end }: Range): Span {
    return { start: this.document.offsetAt(start), end: this.document.offsetAt(end) };
  }

  rangeOf({ start, end }: Span): Range {
    return { start: this.document.positionAt(start), end: this.document.positionAt(end) };
  }
}

/** The path of a file relative to the folder of the server, as the command line would name it. */
export function nameOfUri(uri: string): string {
  const path = pathOfUri(uri);
  return path === null ? uri.replace(/^[^/]*[/]*/, '') : relative('.', path);
}

/** The path of an address of a file; null for all others, such as a text that was never saved, or a malformed one. */
export function pathOfUri(uri: string): string | null {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : null;
  } catch {
    return null;
  }
}

export function uriOfName(name: string): string {
  return pathToFileURL(resolve(name)).href;
}

const TYPICAL_NAME = /(?:^|[./\\_-])(?:edge|policy|scenario|property|properties)\.(?:ya?ml|json)$/;

/** Whether a text is one of our files, and not another YAML or JSON file that an editor shows to the server. */
export function isOurs(name: string, text: string): boolean {
  return TYPICAL_NAME.test(name) || isOfKnownKind(text) || isPropertyFile(text);
}
