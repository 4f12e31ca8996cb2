import { type Diagnostic, type Source, type Span, hasErrors } from '../../diagnostics/diagnostic.ts';
import { type Lines, linesOf, positionAt } from '../../diagnostics/lines.ts';
import { type LocatedDocument, plainDocument, writtenAt } from '../../config_file/document.ts';
import { readDocument } from '../../config_file/read.ts';
import { errorsTo } from '../../config_file/report.ts';
import { shaped } from '../../config_file/validate.ts';
import { deepFreeze, frozenCopy } from '../../config_file/freeze.ts';
import { reportDepartures } from '../../config_file/shape_messages.ts';
import { checkBackends, checkNesting } from './backends.ts';
import { EDGE_FILE, KEYS_ELSEWHERE } from './edge_file.ts';
import { type SoundConfig, type Report, EDGE_SHAPE, reportTo } from './report.ts';
import { checkHostports } from './hosts.ts';
import { checkIpPolicies } from './ip_policies.ts';
import type { ValidationCache } from './validation_cache.ts';
import { checkMatches } from './matches.ts';
import { type ModuleCheckOptions, checkModules } from './modules.ts';
import { checkReferences } from './references.ts';
import type { Sound } from '../../diagnostics/report.ts';
import type { EdgeConfig, WrittenProperty } from './schema.ts';
import { keepNamedSecrets } from './named_secrets.ts';
import { checkCertificateSources, checkPolicyTexts, checkRoutes, checkStreams } from './required_parts.ts';

/** Edges made of cloud endpoints: a policy has to decide about all traffic, because there is no backend. */
export type CloudEndpoints = Readonly<Record<string, { readonly isPooled: boolean }>>;

/** A place in the edge file, counted from 1. */
interface Located {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The result of a check. */
export interface Checked {
  /** With all defaults filled in; null exactly when one of the diagnostics is an error. */
  readonly config: EdgeConfig | null;
  /** What the file states about itself, which is not a part of the configuration. */
  readonly properties: readonly Sound<WrittenProperty>[];
  /** All findings, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** The span of the value at a JSON pointer; undefined without a source, or when there is no value. */
  readonly spanOf: (pointer: string) => Span | undefined;
  /** The span of the key at a JSON pointer. */
  readonly keySpanOf: (pointer: string) => Span | undefined;
  /** The text and its places; parts may be in other files. */
  readonly document: LocatedDocument;
  /** Names of the other files that it was made of. */
  readonly files: readonly string[];
  /** Line and column of a JSON pointer: of its key if it has one, else of its value. */
  readonly locate: (pointer: string) => Located | null;
}

/** The input of a check for a language inside the file; `config` has the parts that are valid and not yet checked. */
export interface Checking {
  readonly config: SoundConfig;
  readonly document: LocatedDocument;
  readonly report: Report;
}

/**
 * A check that needs the code of a whole language, such as that of policies. It is passed in, so that a file without
 * that language does not load the code: see `edge/semantic_checks.ts`.
 */
export type SemanticCheck = (checking: Checking) => readonly Diagnostic[];

/** A document with all that it names. */
interface Assembled {
  readonly document: LocatedDocument;
  readonly diagnostics: readonly Diagnostic[];
  /** Names of the other files that it was made of. */
  readonly files: readonly string[];
  /** Texts from the environment and from files in places of secrets. */
  readonly secrets: readonly string[];
}

/** Puts other files and variables of the environment into a document: see `project_files/assemble.ts`. */
export type Assemble = (document: LocatedDocument) => Assembled;

const ALONE: Assemble = (document) => ({ document, diagnostics: [], files: [], secrets: [] });

export interface EdgeCheckOptions extends ModuleCheckOptions {
  /** Objects that were found valid before. */
  readonly cache?: ValidationCache | undefined;
  /** Puts in what the file only names: other files, and the environment; by default nothing can be named. */
  readonly assemble?: Assemble | undefined;
  /** The edges that are cloud endpoints, by name; those that are pooled may share their hostports. */
  readonly endpoints?: CloudEndpoints | undefined;
}

/**
 * Checks an edge file, or an object of the same form, and reports all errors at once. The cache has objects that were
 * found valid before. Never throws.
 */
export function checkEdge(
  given: Source | { readonly value: unknown },
  further: readonly SemanticCheck[],
  options: EdgeCheckOptions = {},
): Checked {
  if ('value' in given) return checkDocument(plainDocument(given.value), [], further, options);
  const { document, diagnostics } = readDocument(given, EDGE_FILE);
  return document === null
    ? checked(null, diagnostics, plainDocument(undefined))
    : checkDocument(document, diagnostics, further, options);
}

function checkDocument(
  written: LocatedDocument,
  read: readonly Diagnostic[],
  further: readonly SemanticCheck[],
  { cache, endpoints = {}, assemble = ALONE, ...options }: EdgeCheckOptions,
): Checked {
  const { document, diagnostics: named, files, secrets } = assemble(written);
  const diagnostics = [...read, ...named];
  const report = reportTo(diagnostics, document);
  const shapedValue = shaped(
    EDGE_SHAPE,
    document.value,
    '',
    reportDepartures(errorsTo(diagnostics, document, EDGE_FILE.prefix), KEYS_ELSEWHERE),
    cache?.shapes,
  );
  const config = shapedValue as SoundConfig | undefined;
  const unchecked = config === undefined ? undefined : (cache?.unchecked(config) ?? config);
  if (config !== undefined && unchecked !== undefined) {
    checkHostports(config, report, (name) => endpoints[name]?.isPooled === true);
    checkMatches(config, report);
    checkRoutes(unchecked, report);
    checkReferences(config, report);
    checkBackends(unchecked, report);
    checkNesting(config, report);
    checkIpPolicies(unchecked, report);
    checkModules(unchecked, report, options);
    if (Object.hasOwn(config, 'include'))
      report('edge.bad_include', '/include', 'other files can only be included in an edge file');
    checkCertificateSources(config, report);
    checkPolicyTexts(config, report);
    checkStreams(config, report);
    for (const check of further) diagnostics.push(...check({ config: unchecked, document, report }));
  }
  if (secrets.length > 0) hideIn(diagnostics, secrets);
  if (hasErrors(diagnostics)) leaveOutUnused(diagnostics);
  inTextOrder(diagnostics);
  // Without errors all parts are valid, so they are the whole configuration.
  const { properties = [], ...rest } = (config ?? {}) as WithProperties;
  const isWhole = config !== undefined && !hasErrors(diagnostics);
  const whole = isWhole ? accepted((properties.length === 0 ? config : rest) as EdgeConfig) : null;
  if (whole !== null && unchecked !== undefined) cache?.found(whole, unchecked);
  if (whole !== null && secrets.length > 0) keepNamedSecrets(whole, secrets);
  return checked(whole, diagnostics, document, properties, files);
}

/** Sorts findings by file, in the order of their first findings, and by their place in it. */
function inTextOrder(diagnostics: Diagnostic[]): void {
  const order = new Map<string | undefined, number>();
  for (const { source } of diagnostics) if (!order.has(source?.name)) order.set(source?.name, order.size);
  const rank = ({ source }: Diagnostic): number => order.get(source?.name) ?? 0;
  diagnostics.sort(
    (one, other) => rank(one) - rank(other) || (one.span?.start ?? 0) - (other.span?.start ?? 0),
  );
}

const UNUSED = /[.]unused_/;

/** What is not used may be what an error keeps from being used, so it is told when the errors are gone. */
function leaveOutUnused(diagnostics: Diagnostic[]): void {
  const rest = diagnostics.filter(({ code, severity }) => severity === 'error' || !UNUSED.test(code));
  diagnostics.splice(0, diagnostics.length, ...rest);
}

/** Messages quote values, and those of secrets may be among them. */
function hideIn(diagnostics: Diagnostic[], secrets: readonly string[]): void {
  for (const [index, diagnostic] of diagnostics.entries()) {
    const { message } = diagnostic;
    const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message);
    if (shown !== message) diagnostics[index] = { ...diagnostic, message: shown };
  }
}

type WithProperties = SoundConfig & { readonly properties?: readonly Sound<WrittenProperty>[] };

/**
 * Caches identify accepted parts by identity, so parts must not change. Facts have no schema and belong to the caller,
 * so they are not frozen.
 */
function accepted(config: EdgeConfig): EdgeConfig {
  const { facts } = config;
  const own = frozenCopy(facts);
  return deepFreeze(own === facts ? config : { ...config, facts: own });
}

function checked(
  config: EdgeConfig | null,
  diagnostics: readonly Diagnostic[],
  document: LocatedDocument,
  properties: Checked['properties'] = [],
  files: Checked['files'] = [],
): Checked {
  const { spanOf, keySpanOf } = document;
  const lines = new Map<Source, Lines>();
  const locate = (pointer: string): Located | null => {
    const { source } = writtenAt(document, pointer).document;
    const span = keySpanOf(pointer) ?? spanOf(pointer);
    if (source === undefined || span === undefined) return null;
    let own = lines.get(source);
    if (own === undefined) lines.set(source, (own = linesOf(source.text)));
    return { file: source.name, ...positionAt(own, span.start) };
  };
  return { config, properties, diagnostics, spanOf, keySpanOf, document, files, locate };
}
