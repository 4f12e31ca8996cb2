import { hasErrors } from '../../diagnostics/diagnostic.ts';
import type { Diagnostic, Source, Span } from '../../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../../diagnostics/lines.ts';
import type { Lines } from '../../diagnostics/lines.ts';
import { plainDocument, type LocatedDocument } from '../../config_file/document.ts';
import { readDocument } from '../../config_file/read.ts';
import { errorsTo } from '../../config_file/report.ts';
import { shaped } from '../../config_file/validate.ts';
import { deepFreeze, frozenCopy } from '../../config_file/freeze.ts';
import { reportDepartures } from '../../config_file/shape_messages.ts';
import { checkBackends, checkNesting } from './backends.ts';
import { checkCertificateSources } from './certificate_sources.ts';
import { EDGE_FILE, KEYS_ELSEWHERE } from './edge_file.ts';
import { EDGE_SHAPE } from './edge_shape.ts';
import type { SoundConfig } from './edge_shape.ts';
import { checkHostports } from './hosts.ts';
import { checkIpPolicies } from './ip_policies.ts';
import type { ValidationCache } from './validation_cache.ts';
import { checkMatches } from './matches.ts';
import { checkModules } from './modules.ts';
import { checkReferences } from './references.ts';
import { type Report, reportTo } from './report.ts';
import { checkRoutes } from './routes.ts';
import { checkStreams } from './streams.ts';
import type { EdgeConfig } from './schema.ts';

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
  /** All findings, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** The span of the value at a JSON pointer; undefined without a source, or when there is no value. */
  readonly spanOf: (pointer: string) => Span | undefined;
  /** The span of the key at a JSON pointer. */
  readonly keySpanOf: (pointer: string) => Span | undefined;
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

/** Options for the check of an edge. */
export interface EdgeCheckOptions {
  /** Objects that were found valid before. */
  readonly cache?: ValidationCache | undefined;
  /** The current time, to find what has expired; without it, nothing has. */
  readonly nowMs?: number | undefined;
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
  document: LocatedDocument,
  read: readonly Diagnostic[],
  further: readonly SemanticCheck[],
  { cache, nowMs }: EdgeCheckOptions,
): Checked {
  const diagnostics = [...read];
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
    checkHostports(config, report);
    checkMatches(config, report);
    checkRoutes(unchecked, report);
    checkReferences(config, report);
    checkBackends(unchecked, report);
    checkNesting(config, report);
    checkIpPolicies(unchecked, report);
    checkModules(unchecked, report, nowMs);
    checkCertificateSources(config, report);
    checkStreams(config, report);
    for (const check of further) diagnostics.push(...check({ config: unchecked, document, report }));
  }
  diagnostics.sort((one, other) => (one.span?.start ?? 0) - (other.span?.start ?? 0));
  // Without errors all parts are valid, so they are the whole configuration.
  const whole = hasErrors(diagnostics) ? null : accepted(config as EdgeConfig);
  if (whole !== null && unchecked !== undefined) cache?.found(whole, unchecked);
  return checked(whole, diagnostics, document);
}

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
): Checked {
  const { source, spanOf, keySpanOf } = document;
  let lines: Lines | undefined;
  const locate = (pointer: string): Located | null => {
    const span = keySpanOf(pointer) ?? spanOf(pointer);
    if (source === undefined || span === undefined) return null;
    return { file: source.name, ...positionAt((lines ??= linesOf(source.text)), span.start) };
  };
  return { config, diagnostics, spanOf, keySpanOf, locate };
}
