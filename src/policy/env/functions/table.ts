import { type FunctionTable, type Row, functionTable } from '../../../cel/function_table.ts';
import { STANDARD } from '../../../cel/std/standard.ts';
import type { Activation } from '../activation.ts';
import { type ScopePhase, isKnownIn } from '../../../filters/phase.ts';
import { ADDRESS_FUNCTIONS } from './addresses.ts';
import { CHANCE_FUNCTIONS } from './chance.ts';
import { ENCODING_FUNCTIONS } from './encodings.ts';
import { REQUEST_FUNCTIONS, RESPONSE_FUNCTIONS } from './exchange.ts';
import { LIST_FUNCTIONS, LIST_MACROS } from './lists.ts';
import { STRING_FUNCTIONS } from './strings.ts';
import { URL_FUNCTIONS } from './urls.ts';

/** Functions that depend on values only; available in every phase and in event filters. */
const VALUE_FUNCTIONS: readonly Row[] = [
  ...STRING_FUNCTIONS,
  ...LIST_MACROS,
  ...LIST_FUNCTIONS,
  ...ADDRESS_FUNCTIONS,
  ...ENCODING_FUNCTIONS,
  ...URL_FUNCTIONS,
];

/** Rows of the language that the policy language replaces (`split`, `base64.*`) are left out. */
const replaced = new Set(VALUE_FUNCTIONS.filter((row) => row.kind === 'function').map((row) => row.name));
export const LANGUAGE_ROWS: readonly Row[] = STANDARD.rows.filter(
  (row) => row.kind === 'macro' || !replaced.has(row.name),
);

/** The language with functions on values. */
export const VALUE_TABLE: FunctionTable = functionTable(LANGUAGE_ROWS, VALUE_FUNCTIONS);

/** Functions by the first phase in which they can be called. */
export const PHASE_FUNCTIONS: readonly (readonly [since: ScopePhase, rows: readonly Row<Activation>[]])[] = [
  ['on_tcp_connect', CHANCE_FUNCTIONS],
  ['on_http_request', REQUEST_FUNCTIONS],
  ['on_http_response', RESPONSE_FUNCTIONS],
];

/** All functions of a phase. */
export function functionsOf(phase: ScopePhase): FunctionTable<Activation> {
  const groups = PHASE_FUNCTIONS.filter(([since]) => isKnownIn(since, phase)).map(([, rows]) => rows);
  return functionTable<Activation>(LANGUAGE_ROWS, VALUE_FUNCTIONS, ...groups);
}
