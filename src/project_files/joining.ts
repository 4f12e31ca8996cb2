import { type LocatedDocument, type Written, joinedDocument, writtenAt } from '../config_file/document.ts';
import { type Diagnostic, pointerTo } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import { quoted } from '../diagnostics/message_text.ts';
import { reportTo } from '../edge/document/report.ts';
import { type Plain, isPlain } from '../edge/document/written_policies.ts';

/** Keys whose names may come from several files. */
const MAPS: ReadonlySet<string> = new Set([
  'ip_policies',
  'backends',
  'tls_certificates',
  'certificate_authorities',
  'edges',
  'edges/https',
  'edges/tls',
  'edges/tcp',
]);
/** Keys whose lists are put one after the other. */
const LISTS: ReadonlySet<string> = new Set(['address_databases', 'properties']);

/** An edge file that is joined with the files that it includes. Nothing may be defined twice. */
export class Joining {
  readonly #own: LocatedDocument;
  readonly #found: Diagnostic[];
  readonly #value: Record<string, unknown>;
  readonly #parts = new Map<string, Written>();

  constructor(value: Plain, own: LocatedDocument, found: Diagnostic[]) {
    this.#own = own;
    this.#found = found;
    this.#value = { ...value };
  }

  /** Adds what an included file defines. */
  add(document: LocatedDocument): void {
    if (isPlain(document.value)) this.#addAll(this.#value, document.value, '', document);
  }

  document(): LocatedDocument {
    return joinedDocument(this.#own, this.#value, this.#parts);
  }

  #addAll(into: Record<string, unknown>, from: Plain, pointer: string, document: LocatedDocument): void {
    for (const [key, part] of Object.entries(from)) {
      const at = pointerTo(pointer, key);
      const before = into[key];
      if (!Object.hasOwn(into, key) || before === null) {
        into[key] = part;
        this.#parts.set(at, { document, pointer: at });
      } else if (MAPS.has(at.slice(1)) && isPlain(before) && isPlain(part)) {
        const copy = { ...before };
        into[key] = copy;
        this.#addAll(copy, part, at, document);
      } else if (LISTS.has(at.slice(1)) && Array.isArray(before) && Array.isArray(part)) {
        for (const index of part.keys())
          this.#parts.set(`${at}/${before.length + index}`, { document, pointer: `${at}/${index}` });
        into[key] = [...(before as unknown[]), ...(part as unknown[])];
      } else this.#reportTwice(at, key, document);
    }
  }

  #reportTwice(at: string, key: string, document: LocatedDocument): void {
    const { document: first, pointer } = writtenAt(this.document(), at);
    const { source } = first;
    const span = first.keySpanOf(pointer);
    const line = source && span && positionAt(linesOf(source.text), span.start).line;
    const report = reportTo(this.#found, document);
    report('edge.duplicate_definition', at, `${quoted(key)} is already defined`, {
      at: 'key',
      notes: line === undefined ? [] : [`the first is at ${source!.name}:${line}`],
    });
  }
}
