import type { Severity } from '../diagnostics/diagnostic.ts';

/** What the server and its thread say to each other: plain data. */

/** A place as the protocol counts it: lines and UTF-16 units from 0. */
interface WirePosition {
  readonly line: number;
  readonly character: number;
}

export interface WireRange {
  readonly start: WirePosition;
  readonly end: WirePosition;
}

export interface WireFinding {
  /** The file that it is about. */
  readonly file: string;
  readonly range: WireRange;
  readonly severity: Severity;
  readonly code: string;
  /** With its hint and its notes, a line each. */
  readonly message: string;
  readonly fix: {
    readonly message: string;
    readonly range: WireRange;
    readonly text: string;
    readonly safe: boolean;
  } | null;
}

/** A change of a text. */
export interface WireEdit {
  readonly range: WireRange;
  readonly text: string;
}

/** Lines from 0, both included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** How texts are checked. */
export interface CheckSettings {
  readonly strict: boolean;
  readonly exact: boolean;
  readonly serviceName: string | null;
}

/** The route of a case, as `definition` shows it. */
interface WirePlace {
  readonly file: string;
  readonly line: number;
  readonly character: number;
}

/** What can be asked of a thread about a file, with what each needs besides the settings. */
export interface Orders {
  readonly check: object;
  readonly exact: object;
  readonly fix: object;
  readonly format: { readonly lines: LineRange | null };
  readonly run: OfCase;
  readonly explain: OfCase;
  readonly route: OfCase;
  readonly coverage: { readonly scenarios: readonly string[] };
  readonly missing: { readonly scenarios: readonly string[]; readonly line: number };
}

interface OfCase {
  /** Its index in the list of cases. */
  readonly index: number;
}

export type Order = {
  readonly [Does in keyof Orders]: {
    readonly id: number;
    readonly does: Does;
    readonly name: string;
    readonly settings: CheckSettings;
  } & Orders[Does];
}[keyof Orders];

/** The text of a file as its editor has it; null: as it is on disk. */
export interface TextChange {
  readonly name: string;
  readonly text: string | null;
}

/** How often a rule or a route is reached. */
export interface WirePoint {
  /** From 0. */
  readonly line: number;
  /** What happens, as part of a sentence. */
  readonly message: string;
  readonly hits: number;
  /** Why it is not reached; null if it is. */
  readonly why: string | null;
  /** Whether a further case could reach it. */
  readonly isOpen: boolean;
}

export interface Answers {
  readonly check: readonly WireFinding[];
  readonly exact: readonly WireFinding[];
  /** The text after all safe repairs. */
  readonly fix: string;
  /** Null if it cannot be formatted. */
  readonly format: readonly WireEdit[] | null;
  readonly run: { readonly passed: boolean; readonly text: string };
  readonly explain: string;
  readonly route: WirePlace | null;
  readonly coverage: readonly WirePoint[];
  /** A case as lines of the list of cases of a scenario file. */
  readonly missing: { readonly scenario: string; readonly text: string } | null;
}

export type Answer =
  | { readonly id: number; readonly result: Answers[keyof Answers] }
  | { readonly id: number; readonly problem: string };
