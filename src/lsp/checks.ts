import { resolve } from 'node:path';
import type { Diagnostic, Source, Span } from '../diagnostics/diagnostic.ts';
import { type Lines, linesOf, positionAt } from '../diagnostics/lines.ts';
import { fixSource } from '../policy/document/fixes.ts';
import { exactFindingsIn } from '../project_files/exact_findings.ts';
import { FILES_BESIDE } from '../project_files/files_beside.ts';
import { type Checker, checkerFor } from '../project_files/load_config.ts';
import { type NamedFiles, filesOnDisk } from '../project_files/named_files.ts';
import type { Sources } from '../project_files/sources.ts';
import { formattingOf } from './formatting.ts';
import type { CaseRuns } from './case_runs.ts';
import type { Answers, CheckSettings, LineRange, WireFinding, WireRange } from './messages.ts';

/** Checks texts of an editor; what they name is read from the editor, too, where it is open there. */
export class Checks {
  /** By absolute path. */
  readonly #texts = new Map<string, string>();
  readonly #sources: Sources = {
    read: (path) => this.#texts.get(resolve(path)) ?? null,
    filesOf: (root) => this.#filesOf(root),
    beside: { ...FILES_BESIDE, read: (path) => this.#open(path) ?? FILES_BESIDE.read(path) },
  };

  /** Loaded by the thread that runs cases only. */
  async runs(): Promise<CaseRuns> {
    return new (await import('./case_runs.ts')).CaseRuns(this.#sources);
  }

  setText(name: string, text: string | null): void {
    const path = resolve(name);
    if (text === null) this.#texts.delete(path);
    else this.#texts.set(path, text);
  }

  /** What `edgeproof check` finds. */
  async check(name: string, settings: CheckSettings): Promise<Answers['check']> {
    const source = this.#source(name);
    const checker = await this.#checker(source, settings);
    return wired(source, checker(source));
  }

  /** What `--exact` finds beyond that. */
  async exact(name: string, { serviceName }: CheckSettings): Promise<Answers['exact']> {
    const source = this.#source(name);
    const files = this.#filesOf(name);
    return wired(source, await exactFindingsIn(source, { files, serviceName: serviceName ?? undefined }));
  }

  async fix(name: string, settings: CheckSettings): Promise<Answers['fix']> {
    const source = this.#source(name);
    const checker = await this.#checker(source, settings);
    return fixSource(source, (each) => [...checker(each)]).text;
  }

  format(name: string, { serviceName }: CheckSettings, lines: LineRange | null): Answers['format'] {
    return formattingOf(this.#source(name), serviceName ?? undefined, lines);
  }

  #source(name: string): Source {
    return { name, text: this.#texts.get(resolve(name)) ?? '' };
  }

  #open(path: string): Source | null {
    const text = this.#texts.get(resolve(path));
    return text === undefined ? null : { name: path, text };
  }

  #checker({ name, text }: Source, { strict, serviceName }: CheckSettings): Promise<Checker> {
    const { filesOf, beside } = this.#sources;
    return checkerFor(text, { name, strict, serviceName: serviceName ?? undefined, filesOf, beside });
  }

  #filesOf(root: string): NamedFiles {
    const disk = filesOnDisk(root);
    return {
      ...disk,
      read: (name) => {
        const open = this.#texts.get(resolve(name));
        const read = disk.read(name);
        // A file that may not be read is not read because it is open.
        return open === undefined || ('problem' in read && !read.isMissing) ? read : { name, text: open };
      },
    };
  }
}

function wired(own: Source, found: readonly Diagnostic[]): readonly WireFinding[] {
  const known = new Map<string, Lines>();
  const rangeOf = ({ text }: Source, span: Span): WireRange => {
    let lines = known.get(text);
    if (lines === undefined) known.set(text, (lines = linesOf(text)));
    return { start: wirePosition(lines, span.start), end: wirePosition(lines, span.end) };
  };
  return found.map(({ source = own, span = NOWHERE, severity, code, message, hint, notes = [], fix }) => ({
    file: source.name,
    range: rangeOf(source, span),
    severity,
    code,
    message: [message, ...(hint === undefined ? [] : [hint]), ...notes].join('\n'),
    fix: fix === undefined ? null : { ...fix, range: rangeOf(source, fix.span) },
  }));
}

const NOWHERE: Span = { start: 0, end: 0 };

function wirePosition(lines: Lines, offset: number): WireRange['start'] {
  const within = Math.min(Math.max(offset, 0), lines.text.length);
  const line = positionAt(lines, within).line - 1;
  return { line, character: within - lines.starts[line]! };
}
