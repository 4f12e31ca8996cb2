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
import { EDGE_FILE, KEYS_ELSEWHERE } from './edge_file.ts';
import { EDGE_SHAPE } from './edge_shape.ts';
import type { SoundConfig } from './edge_shape.ts';
import { checkHeaders } from './headers.ts';
import { checkHostports } from './hosts.ts';
import { checkIpPolicies } from './ip_policies.ts';
import type { ValidationCache } from './validation_cache.ts';
import { checkLogins } from './logins.ts';
import { checkMatches } from './matches.ts';
import { checkReferences } from './references.ts';
import { type Report, reportTo } from './report.ts';
import { checkRoutes } from './routes.ts';
import { checkStreams } from './streams.ts';
import type { EdgeConfig } from './schema.ts';
import { checkTls } from './tls.ts';
import { checkUserAgents } from './user_agents.ts';

/** Where something stands in the edge file, counted from 1. */
interface Located {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What checking gives. */
export interface Checked {
  /** With all defaults filled in; null exactly when one of the diagnostics is an error. */
  readonly config: EdgeConfig | null;
  /** All that was found, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** The stretch of the value at a JSON pointer; undefined without a source, or when nothing is there. */
  readonly spanOf: (pointer: string) => Span | undefined;
  /** The stretch of the key at a JSON pointer. */
  readonly keySpanOf: (pointer: string) => Span | undefined;
  /** The line and column of a JSON pointer: of its key where it has one, else of its value. */
  readonly locate: (pointer: string) => Located | null;
}

/** What a check of a language inside the file works with; `config` holds the parts that are sound and not yet checked. */
export interface Checking {
  readonly config: SoundConfig;
  readonly document: LocatedDocument;
  readonly report: Report;
}

/**
 * A check that needs a whole language, such as that of policies. These are handed in, so that a file without them
 * does not wait for their code: see `edge/semantic_checks.ts`.
 */
export type SemanticCheck = (checking: Checking) => readonly Diagnostic[];

/**
 * Checks an edge file, or an object of the same form, and says everything that is wrong with it at once. `known` has
 * what was found sound in objects checked before. Never throws.
 */
export function checkEdge(
  given: Source | { readonly value: unknown },
  further: readonly SemanticCheck[],
  known?: ValidationCache,
): Checked {
  if ('value' in given) return checkDocument(plainDocument(given.value), [], further, known);
  const { document, diagnostics } = readDocument(given, EDGE_FILE);
  return document === null
    ? checked(null, diagnostics, plainDocument(undefined))
    : checkDocument(document, diagnostics, further);
}

function checkDocument(
  document: LocatedDocument,
  read: readonly Diagnostic[],
  further: readonly SemanticCheck[],
  known?: ValidationCache,
): Checked {
  const diagnostics = [...read];
  const report = reportTo(diagnostics, document);
  const shapedValue = shaped(
    EDGE_SHAPE,
    document.value,
    '',
    reportDepartures(errorsTo(diagnostics, document, EDGE_FILE.prefix), KEYS_ELSEWHERE),
    known?.shapes,
  );
  const config = shapedValue as SoundConfig | undefined;
  const unchecked = config === undefined ? undefined : (known?.unchecked(config) ?? config);
  if (config !== undefined && unchecked !== undefined) {
    checkHostports(config, report);
    checkMatches(config, report);
    checkRoutes(unchecked, report);
    checkReferences(config, report);
    checkBackends(unchecked, report);
    checkNesting(config, report);
    checkIpPolicies(unchecked, report);
    checkUserAgents(unchecked, document, report);
    checkHeaders(unchecked, report);
    checkLogins(unchecked, report);
    checkTls(config, report);
    checkStreams(config, report);
    for (const check of further) diagnostics.push(...check({ config: unchecked, document, report }));
  }
  diagnostics.sort((one, other) => (one.span?.start ?? 0) - (other.span?.start ?? 0));
  // Without errors every part was sound, so the sound parts are the whole.
  const whole = hasErrors(diagnostics) ? null : accepted(config as EdgeConfig);
  if (whole !== null && unchecked !== undefined) known?.found(whole, unchecked);
  return checked(whole, diagnostics, document);
}

/** Caches know accepted parts by their identity, so none may change. Facts have no shape, so they are the caller's. */
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
