import type { Cures } from './cures/cure.ts';
import { EDGE_CURES } from './cures/edge_cures.ts';
import { EXPRESSION_CURES } from './cures/expression_cures.ts';
import { FILE_CURES } from './cures/file_cures.ts';
import { POLICY_CURES } from './cures/policy_cures.ts';
import { PROPERTY_CURES } from './cures/property_cures.ts';
import { SCENARIO_CURES } from './cures/scenario_cures.ts';
import { ANALYSIS_CODES, BASES } from '../analysis/codes.ts';
import { cureOfReason } from './cures/reason_cures.ts';
import type { Basis } from '../diagnostics/diagnostic.ts';
import { MUTATION_OPERATORS } from '../analysis/mutation_operators.ts';
import { FILE_CODES } from '../config_file/codes.ts';
import { EDGE_CODES } from '../edge/document/codes.ts';
import { ENGINE_REASONS, STREAM_REASONS } from '../engine/refusals.ts';
import { AUDIT_OBJECTS } from '../events/event_types.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { ErrorNumber, Finding } from '../filters/fact_values.ts';
import { EXPRESSION_CODES } from '../policy/codes/expression_codes.ts';
import { POLICY_WARNINGS } from '../policy/codes/warnings.ts';
import type { OtherCodes } from '../policy/codes/page.ts';
import { PROPERTY_CODES } from '../project_files/property_codes.ts';
import { SCENARIO_CODES } from '../simulator/document/codes.ts';

type Sentences = readonly (readonly [code: string, sentence: string])[];

type AnalysisText = Readonly<Record<'message' | 'example' | 'cure', string>> & { readonly basis: Basis };

/** All codes outside of policies: of files, of decisions, of analyses and of events. */
export function otherCodes(): OtherCodes {
  const sentences: Sentences = [
    ...filesOf('property', 'a property file'),
    ...filesOf('scenario', 'a scenario file'),
    ...Object.entries({ ...EDGE_CODES, ...SCENARIO_CODES, ...PROPERTY_CODES, ...FACTS } as Readonly<
      Record<string, Finding>
    >).map(([code, { message, cure = CURES[code] }]) => [code, withCure(message, cure)] as const),
    ...Object.entries({ ...POLICY_WARNINGS, ...EXPRESSION_CODES }).map(
      ([code, message]) => [code, withCure(message, CURES[code])] as const,
    ),
    ...reasons(),
    ...Object.entries<AnalysisText>(ANALYSIS_CODES).map(
      ([code, { message, basis, example, cure }]) =>
        [code, `${message}\n\n${BASES[basis]}\n\nFor example: ${example}.\n\nThe cure: ${cure}.`] as const,
    ),
    ...Object.entries(MUTATION_OPERATORS).map(
      ([code, does]) =>
        [
          code,
          `A mistake that \`mutate\` plants: it ${does}. A case that fails with it notices it.`,
        ] as const,
    ),
    ...events(),
  ];
  return { sentences: Object.fromEntries(sentences), numbers: numbers() };
}

/** What reading any file can find; the sentences are those of edge files. */
function filesOf(prefix: string, called: string): Sentences {
  return FILE_CODES.map((code) => [
    `${prefix}.${code}`,
    withCure(
      `In ${called}: ${EDGE_CODES[`edge.${code}`]!.message.replace(' of edge files', '')}`,
      FILE_CURES[code],
    ),
  ]);
}

const FACTS = {
  'facts.invalid': { message: 'A table of facts about addresses has a value that its key does not allow.' },
};

/** Findings about form have the same cures in all kinds of files. */
const CURES: Cures = {
  ...Object.fromEntries(Object.entries(FILE_CURES).map(([code, cure]) => [`edge.${code}`, cure])),
  ...EDGE_CURES,
  ...SCENARIO_CURES,
  ...PROPERTY_CURES,
  ...POLICY_CURES,
  ...curesOfActions(),
  ...EXPRESSION_CURES,
  'facts.invalid': [
    'A country of three letters in the facts of an address',
    'Write the value in the form that the finding names',
  ],
};

function curesOfActions(): Cures {
  const warnings = [...ACTION_FACTS.values()].flatMap((facts) => Object.entries(facts.warnings ?? {}));
  return Object.fromEntries(warnings.map(([code, { cure }]) => [code, cure]));
}

function withCure(message: string, cure: readonly [example: string, cure: string] | undefined): string {
  return cure === undefined ? message : `${message}\n\nFor example: ${cure[0]}.\n\nThe cure: ${cure[1]}.`;
}

/** Why requests and connections were decided as they were, as traces show it. */
function reasons(): Sentences {
  const found = new Map<string, string>([
    ['rule.applied', 'All expressions of a rule of a policy were true, so its actions ran.'],
    [
      'rule.not_applied',
      'An expression of a rule of a policy was false, so its actions did not run. `explain` says which one, and its values.',
    ],
  ]);
  for (const [code, { message, status, code: number }] of Object.entries(ENGINE_REASONS)) {
    const answer = status === 0 ? '' : ` The response has status ${status}${numbered(number)}.`;
    found.set(code, `Of the edge itself: ${message}.${answer}`);
  }
  // A module and an action may have one in common.
  const add = (code: string, sentence: string): void => {
    const first = found.get(code);
    found.set(code, first === undefined ? sentence : `${first}\n${sentence}`);
  };
  for (const [code, { message }] of Object.entries(STREAM_REASONS)) add(code, message);
  for (const { type, reasons: own } of MODULE_FACTS.values()) {
    for (const [code, { message }] of Object.entries(own)) add(code, `Module ${type}: ${message}.`);
  }
  for (const { type, reasons: own } of ACTION_FACTS.values()) {
    const prefix = type.replaceAll('-', '_');
    for (const [code, message] of Object.entries(own))
      add(`${prefix}.${code}`, `Action ${type}: ${message}.`);
  }
  return Array.from(found, ([code, sentence]) => [code, `${sentence}\n\n${cureOfReason(code)}`]);
}

function numbered(number: number | null): string {
  return number === null ? '' : ` and the code with the number ${number}`;
}

function events(): Sentences {
  const audit = AUDIT_OBJECTS.flatMap((object) =>
    ['created', 'updated', 'deleted'].map((action): readonly [string, string] => [
      `${object}_${action}.v0`,
      `An audit event: the management API ${action} an object of the kind \`${object}\`.`,
    ]),
  );
  return [
    ['http_request_complete.v0', 'A traffic event: a request is complete, and its response has been sent.'],
    [
      'tcp_connection_closed.v0',
      'A traffic event: a connection of a TLS or TCP edge, or one with HTTP, has closed.',
    ],
    ['agent_session_start.v0', 'An audit event: an agent started a session, or was refused.'],
    ['agent_session_stop.v0', 'An audit event: the session of an agent ended.'],
    ...audit,
  ];
}

/** Numbers of responses of the edge, and of findings as the management API has them. */
function numbers(): readonly ErrorNumber[] {
  const found = new Map<number, ErrorNumber>();
  for (const [reason, { code: number, message, status }] of Object.entries(ENGINE_REASONS)) {
    if (number !== null)
      found.set(number, { number, title: reason, means: `The response has status ${status}: ${message}.` });
  }
  for (const [title, { number, message }] of Object.entries(EDGE_CODES)) {
    if (number !== undefined && !found.has(number)) found.set(number, { number, title, means: message });
  }
  return [...found.values()];
}
