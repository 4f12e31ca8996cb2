import { type Diagnostic, pointerTo } from '../../diagnostics/diagnostic.ts';
import type { LocatedDocument } from '../../config_file/document.ts';
import { readDocument } from '../../config_file/read.ts';
import type { Report } from '../../diagnostics/report.ts';
import type { Depart } from '../../config_file/shape.ts';
import { shaped } from '../../config_file/validate.ts';
import type { FilesBeside } from './beside.ts';
import type { ScenarioCode } from './codes.ts';
import { SHARED_SHAPE } from './scenario_shape.ts';
import type { ScenarioShell } from './schema.ts';

/** Which document each part of a file with its includes is from, by JSON pointer. */
export type Origins = Map<string, LocatedDocument>;

/** What reading includes needs of the check of a file. */
export interface Including {
  readonly files: FilesBeside;
  readonly found: Diagnostic[];
  readonly reportIn: (document: LocatedDocument) => Report<ScenarioCode>;
  readonly departIn: (document: LocatedDocument) => Depart;
  readonly origins: Origins;
  /** Names of all files that were read. */
  readonly read: Set<string>;
}

type Plain = Record<string, unknown>;

/** An included file has only what several scenario files can share. */
const SHARED_FILE = {
  called: 'a file to include',
  keys: '`variables` and `upstreams`',
  smallest: 'a minimal file to include has `variables` or `upstreams`',
  prefix: 'scenario',
};

/** More files than this are taken for a mistake. */
const MAX_INCLUDES = 100;

/** How many levels of maps are merged; deeper values replace each other as a whole. */
const LEVELS: Readonly<Record<string, number>> = {
  agents: 2,
  defaults: 3,
  facts: 1,
  identities: 1,
  secrets: 2,
  upstreams: 1,
  variables: 1,
};

/** A file with what it includes. Where files set the same value, the later one wins, and the file itself over all. */
export function withIncludes(
  shell: ScenarioShell,
  document: LocatedDocument,
  name: string,
  including: Including,
): ScenarioShell {
  if (shell.include === undefined) return shell;
  const whole: Plain = {};
  const own = including.files.nameOf(name, name.slice(name.lastIndexOf('/') + 1));
  addIncludes(whole, shell, document, [own], including);
  addParts(whole, shell, document, including.origins);
  return whole;
}

function addIncludes(
  whole: Plain,
  { include }: Pick<ScenarioShell, 'include'>,
  document: LocatedDocument,
  chain: readonly string[],
  including: Including,
): void {
  const { files, found, read } = including;
  const names = typeof include === 'string' ? [include] : (include ?? []);
  for (const [index, named] of names.entries()) {
    const at = typeof include === 'string' ? '/include' : pointerTo('/include', index);
    const report = including.reportIn(document);
    const name = files.nameOf(chain.at(-1)!, named);
    if (chain.includes(name)) {
      const circle = [...chain.slice(chain.indexOf(name)), name].join(' → ');
      report('scenario.bad_include', at, `the file includes itself: ${circle}`);
      continue;
    }
    if (!read.has(name) && read.size >= MAX_INCLUDES) {
      report('scenario.bad_include', at, `more than ${MAX_INCLUDES} files are included`);
      return;
    }
    read.add(name);
    const source = files.read(name);
    if ('problem' in source) {
      report('scenario.bad_include', at, source.problem, { hint: source.hint });
      continue;
    }
    const { document: inner, diagnostics } = readDocument(source, SHARED_FILE);
    found.push(...diagnostics);
    if (inner === null) continue;
    const value = shaped(SHARED_SHAPE, inner.value, '', including.departIn(inner)) as
      | ScenarioShell
      | undefined;
    if (value === undefined) continue;
    addIncludes(whole, value, inner, [...chain, name], including);
    addParts(whole, value, inner, including.origins);
  }
}

function addParts(whole: Plain, parts: object, document: LocatedDocument, origins: Origins): void {
  for (const [key, value] of Object.entries(parts)) {
    if (value !== undefined) add(whole, key, value, LEVELS[key] ?? 0, `/${key}`);
  }

  function add(into: Plain, key: string, value: unknown, levels: number, pointer: string): void {
    origins.set(pointer, document);
    if (levels === 0 || !isMap(value)) {
      into[key] = value;
      return;
    }
    const before = into[key];
    const merged: Plain = isMap(before) ? { ...before } : {};
    into[key] = merged;
    for (const [name, inner] of Object.entries(value))
      add(merged, name, inner, levels - 1, pointerTo(pointer, name));
  }
}

function isMap(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The document that a part of the file is from; `own` if it is not from an include. */
export function originOf(origins: Origins, pointer: string, own: LocatedDocument): LocatedDocument {
  if (origins.size === 0) return own;
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const document = origins.get(at);
    if (document !== undefined) return document;
  }
  return own;
}
