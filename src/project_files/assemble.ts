import { type LocatedDocument, type Written, joinedDocument, valueAt } from '../config_file/document.ts';
import { tokensOf } from '../config_file/locate.ts';
import { readDocument } from '../config_file/read.ts';
import { type Diagnostic, pointerTo } from '../diagnostics/diagnostic.ts';
import type { Assemble } from '../edge/document/check.ts';
import { EDGE_FILE } from '../edge/document/edge_file.ts';
import { EDGE_SHAPE, reportTo } from '../edge/document/report.ts';
import { includedNames } from './included_names.ts';
import { Joining } from './joining.ts';
import { type NamedFiles, filesOnDisk } from './named_files.ts';
import { type Plain, isPlain, writtenPolicies } from '../edge/document/written_policies.ts';
import { policyOf } from './policy_forms.ts';
import { MAY_REFER, withoutReferences } from './references.ts';
import type { StandIns } from './stand_ins.ts';

/** Files that include each other deeper than this are taken for a mistake. */
const DEPTH_LIMIT = 16;
/** More files than this are taken for a mistake. */
const FILES_LIMIT = 500;
/** A text without any of these is complete. */
const NAMES_OTHERS = new RegExp(`\\binclude\\b|traffic_policy|${MAY_REFER.source}`);

/** What assembling one edge file collects. */
interface Assembling {
  readonly root: string;
  readonly files: NamedFiles;
  readonly found: Diagnostic[];
  readonly read: Set<string>;
  readonly secrets: Set<string>;
  readonly standIns: StandIns | undefined;
}

/** Puts the files and variables that the edge file `root` names into its document. */
export function assembleFrom(
  root: string,
  files: NamedFiles = filesOnDisk(root),
  standIns?: StandIns,
): Assemble {
  return (document) => {
    const text = document.source?.text;
    const none = { document, diagnostics: [], files: [], secrets: [] };
    if (text !== undefined && !NAMES_OTHERS.test(text)) return none;
    const assembling: Assembling = { root, files, standIns, found: [], read: new Set(), secrets: new Set() };
    const whole = assembled(document, root, [files.nameOf(root, baseName(root))], assembling);
    return {
      document: whole,
      diagnostics: assembling.found,
      files: [...assembling.read],
      secrets: [...assembling.secrets],
    };
  };
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.indexOf(':')) + 1);
}

/** A file with its references and policies, and with the files that it includes. */
function assembled(
  document: LocatedDocument,
  name: string,
  chain: readonly string[],
  assembling: Assembling,
): LocatedDocument {
  const { files, found, read, secrets, standIns } = assembling;
  const report = reportTo(found, document);
  const referring = { name, files, report, read, secrets, standIns };
  const own = withoutReferences(document.value, EDGE_SHAPE, referring);
  const parts = new Map<string, Written>();
  const value = withPolicies(own, { document, name, files, report, read }, parts);
  if (!isPlain(value) || !Object.hasOwn(value, 'include')) {
    return value === document.value ? document : joinedDocument(document, value, parts);
  }
  const { include, ...rest } = value;
  const joining = new Joining(rest, joinedDocument(document, rest, parts), found);
  for (const { path, pointer } of includedNames(include, name, files, report, read)) {
    if (chain.includes(path)) {
      const circle = [...chain.slice(chain.indexOf(path)), path].join(' → ');
      report('edge.bad_include', pointer, `the file includes itself: ${circle}`);
    } else if (read.has(path)) {
      report('edge.bad_include', pointer, `${path} is included a second time`);
    } else if (chain.length > DEPTH_LIMIT || read.size >= FILES_LIMIT) {
      const limit = chain.length > DEPTH_LIMIT ? `${DEPTH_LIMIT} levels` : `${FILES_LIMIT} files`;
      report('edge.bad_include', pointer, `more than ${limit} of files are included`);
      break;
    } else {
      const source = files.read(path);
      read.add(path);
      if ('problem' in source) {
        report('edge.unreadable_file', pointer, source.problem, { hint: source.hint });
        continue;
      }
      const { document: inner, diagnostics } = readDocument(source, EDGE_FILE);
      found.push(...diagnostics);
      if (inner === null) continue;
      joining.add(moved(assembled(inner, path, [...chain, path], assembling), path, assembling));
    }
  }
  return joining.document();
}

interface Reading {
  readonly document: LocatedDocument;
  readonly name: string;
  readonly files: NamedFiles;
  readonly report: ReturnType<typeof reportTo>;
  readonly read: Set<string>;
}

/** A value with its policies as texts; `parts` receives where they are written. */
function withPolicies(value: unknown, reading: Reading, parts: Map<string, Written>): unknown {
  const changed: Changed[] = [];
  for (const { pointer, policy: given } of writtenPolicies(value)) {
    const policy = policyOf(given, { ...reading, pointer });
    if (policy.written !== null) parts.set(`${pointer}/value`, policy.written);
    if (policy.value !== given) changed.push({ path: tokensOf(pointer), value: policy.value });
  }
  return withChanged(value, changed);
}

/** Keys whose values are paths beside the edge file. */
const PATH_KEYS: ReadonlySet<string> = new Set(['certificate_file', 'private_key_file', 'ca_file']);

/** An included document with its paths as the first file would write them. */
function moved(document: LocatedDocument, name: string, { root, files }: Assembling): LocatedDocument {
  const { value } = document;
  if (!isPlain(value)) return document;
  const changed: Changed[] = [];
  const move = (pointer: string): void => {
    const path = valueAt(value, pointer);
    if (typeof path === 'string')
      changed.push({ path: tokensOf(pointer), value: files.movedTo(root, name, path) });
  };
  for (const key of ['tls_certificates', 'certificate_authorities']) {
    const named = value[key];
    if (!isPlain(named)) continue;
    for (const [each, certificate] of Object.entries(named)) {
      if (!isPlain(certificate)) continue;
      for (const path of Object.keys(certificate).filter((one) => PATH_KEYS.has(one)))
        move(pointerTo(pointerTo(`/${key}`, each), path));
    }
  }
  const databases = value['address_databases'];
  if (Array.isArray(databases)) for (const index of databases.keys()) move(`/address_databases/${index}`);
  return changed.length === 0 ? document : joinedDocument(document, withChanged(value, changed), new Map());
}

/** A value that takes the place of another one, and the keys that lead to it. */
interface Changed {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * A copy of plain data with changed values; none is inside of another one. Each map and list is copied once: thousands of
 * routes with policies are one list.
 */
function withChanged(value: unknown, changed: readonly Changed[]): unknown {
  const [first] = changed;
  if (first === undefined) return value;
  if (first.path.length === 0) return first.value;
  const below = Map.groupBy(changed, ({ path }) => path[0]!);
  const part = (key: string, given: unknown): unknown =>
    withChanged(
      given,
      (below.get(key) ?? []).map(({ path, value: to }) => ({ path: path.slice(1), value: to })),
    );
  if (Array.isArray(value)) return value.map((item: unknown, index) => part(String(index), item));
  return Object.fromEntries(Object.entries(value as Plain).map(([key, item]) => [key, part(key, item)]));
}

/** Assembles an edge that has this service name, whatever its file says; undefined leaves it. */
export function namedService(assemble: Assemble, name: string | undefined): Assemble {
  if (name === undefined) return assemble;
  return (written) => {
    const whole = assemble(written);
    const { document } = whole;
    if (!isPlain(document.value)) return whole;
    const value = { ...document.value, service_name: name };
    return { ...whole, document: joinedDocument(document, value, new Map()) };
  };
}
