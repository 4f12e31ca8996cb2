import * as z from 'zod';
import { POINT_KINDS, type PointKind } from '../../coverage/point.ts';
import type {
  because,
  expectedValue,
  fetchSent,
  matcher,
  scalar,
  upstreamSaw,
} from './expectation_schema.ts';
import { expectation } from './expectation_schema.ts';
import { nodes, nodesChange } from './nodes_schema.ts';
import { clientCertificate, duration, request, send, type tls } from './request_schema.ts';
import { agents } from './agent_schema.ts';
import { type answer, type upstream, upstreams } from './upstream_schema.ts';
import { simulation } from './world_schema.ts';

/**
 * The scenario file. Types come from here at compile time, and `scenario.schema.json` is generated; run-time
 * code must not import this file. Constraints beyond the schema are checked in `check.ts` and during
 * compilation.
 */

const expected = z
  .union([z.string(), expectation])
  .describe('Expectations; the string `snapshot` is filled in by --update.');

const facts = z
  .union([z.record(z.string(), z.unknown()), z.array(z.record(z.string(), z.unknown()))])
  .describe(
    'Values of variables by name, such as `conn.geo.country_code`, or facts about addresses as in an edge file.',
  );

const capture = z
  .strictObject({
    header: z.string().optional().describe('A field of the response.'),
    cookie: z.string().optional().describe('A cookie that the response sets.'),
    json: z.string().optional().describe('A path into its body, such as `$.session.token`.'),
  })
  .describe('Where a value comes from.');

const connection = z
  .strictObject({
    to: z.string().min(1).describe('Host and port of an edge: 1.tcp.test:5432, or tls://db.test:443.'),
    ip: z.string().optional().describe('Address of the client; default 203.0.113.9.'),
    server_name: z.string().optional().describe('Name in the handshake; default the host.'),
    tls_version: z.enum(['1.0', '1.1', '1.2', '1.3']).optional().describe('Default 1.3.'),
    sends: z.int().min(0).optional().describe('Bytes that the client sends; default 0.'),
    receives: z.int().min(0).optional().describe('Bytes that the backend sends; default 0.'),
  })
  .describe('A connection of a TLS or TCP edge.');

const kept = connection
  .extend({ as: z.string().min(1).optional().describe('Keeps it open, under this name, for later steps.') })
  .describe('A connection; what is expected of it is checked when it is closed.');

const transfer = z
  .strictObject({
    on: z.string().describe('Name of an open connection.'),
    sends: z.int().min(0).optional().describe('Bytes that the client sends; default 0.'),
    receives: z.int().min(0).optional().describe('Bytes that the backend sends; default 0.'),
  })
  .describe('Bytes on an open connection.');

const step = z
  .strictObject({
    at: duration.optional().describe('Time since the start of the case.'),
    advance: duration.optional().describe('Time since the previous step.'),
    upstreams: upstreams.optional(),
    agents: agents.optional(),
    identities: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .optional()
      .describe('Changes of identities from this step on, such as `alice: { active: false }`.'),
    send: send.optional().describe('Requests to send.'),
    connect: z.union([z.string(), kept]).optional().describe('Opens a connection to a TLS or TCP edge.'),
    transfer: transfer.optional(),
    close: z.string().optional().describe('Closes an open connection; the others are closed at the end.'),
    capture: z
      .record(z.string(), capture)
      .optional()
      .describe('Values of the response by name, for `{name}` in the requests of later steps.'),
    expect: expected.optional(),
    ...nodesChange,
  })
  .describe('One step: time passes, upstreams, agents and nodes change, requests are sent.');

const sample = z
  .strictObject({
    request: z.union([z.string(), request]).optional().describe('The request.'),
    by: z
      .enum(['backend', 'agent', 'status', 'code'])
      .optional()
      .describe('Outcome that is counted: the backend (default), the agent, the status, or the reason code.'),
    share: z
      .record(z.string(), z.union([z.number(), z.string()]))
      .describe("Probability of each outcome, as a decimal or a fraction such as '1/3'."),
    method: z
      .enum(['exact', 'empirical'])
      .optional()
      .describe('Exact enumerates all random outcomes (default); empirical counts seeded runs.'),
    runs: z
      .int()
      .min(1)
      .max(10_000_000)
      .optional()
      .describe('Number of runs of the empirical method; default 10000.'),
    within: z.number().min(0).optional().describe('Allowed deviation of the empirical method.'),
  })
  .describe('Shares of random outcomes.');

const caseShape = {
  name: z.string().describe('Name of the case: what is expected, as a sentence.'),
  tags: z.array(z.string()).optional().describe('Tags to select cases by.'),
  skip: z.union([z.boolean(), z.string()]).optional().describe('Skips the case, with the reason.'),
  clock: z.string().optional().describe('Virtual time at the start of the case, RFC 3339.'),
  seed: z.union([z.int(), z.string()]).optional().describe('Seed of randomness.'),
  upstreams: upstreams.optional(),
  agents: agents.optional(),
  facts: facts.optional(),
  client_certificate: clientCertificate.optional(),
  request: z.union([z.string(), request]).optional().describe('The request, or `GET /path`.'),
  curl: z.string().optional().describe('The request as a curl command line.'),
  raw: z.string().optional().describe('The request as bytes of HTTP/1.1.'),
  connect: z.union([z.string(), connection]).optional().describe('A connection to a TLS or TCP edge.'),
  timeline: z.array(step).min(1).optional().describe('Steps on the virtual clock.'),
  sample: sample.optional(),
  expect: expected.optional(),
};

const scenarioCase = z.strictObject(caseShape).describe('One case.');

const eachCase = z.strictObject({
  ...caseShape,
  each: z
    .union([
      z.record(z.string(), z.array(z.unknown())).describe('Values by name: every combination is a case.'),
      z.array(z.record(z.string(), z.unknown())).describe('Rows: each is a case.'),
      z.string().describe('A CSV file beside this one; its first line has the names of the columns.'),
    ])
    .optional()
    .describe('A table of values for `{name}` in the case; each row is reported as a case.'),
});

const percent = z.number().min(0).max(100).optional().describe('Minimum percentage that must be covered.');

const top = {
  version: z.int().min(1).max(1).optional().describe('Version of the format: 1.'),
  include: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe(
      'Files beside this one with variables, upstreams, agents, identities and others to share; own values win.',
    ),
  edge: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .optional()
    .describe('The edge under test: a path beside this file, or the edge itself.'),
  policy: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .optional()
    .describe('A traffic policy instead of an edge; tested on a route of its own.'),
  defaults: z
    .strictObject({
      request: request.optional(),
      upstream_timeout: duration.optional().describe('Timeout of upstreams; default 60s.'),
      tags: z.array(z.string()).optional().describe('Tags of every case.'),
    })
    .optional()
    .describe('Defaults of all cases.'),
  variables: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Values for `{name}` in all cases; those of a table win.'),
  clock: z.string().optional().describe('Virtual time at the start of each case, RFC 3339.'),
  seed: z.union([z.int(), z.string()]).optional().describe('Seed of randomness; default 1.'),
  upstreams: upstreams.optional(),
  agents: agents.optional(),
  identities: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .optional()
    .describe(
      'Users who can log in, by name: id, name, email, email_verified, groups, organizations, teams, active, misbehave.',
    ),
  secrets: z
    .record(z.string(), z.record(z.string(), z.string()))
    .optional()
    .describe('Secrets for `secrets.get`, by vault and name.'),
  facts: facts.optional(),
  client_certificate: clientCertificate.optional(),
  coverage: z
    .strictObject(
      Object.fromEntries(['all', ...POINT_KINDS].map((kind) => [kind, percent])) as Record<
        'all' | PointKind,
        typeof percent
      >,
    )
    .optional()
    .describe('Minimum percentages of coverage, for cover and test --coverage.'),
  nodes: nodes.optional(),
  simulation: simulation.optional(),
};

const shellOf = z.strictObject({ ...top, cases: z.array(z.unknown()).optional() });

const scenarioFile = z
  .strictObject({ ...top, cases: z.array(eachCase).min(1).optional().describe('The cases.') })
  .describe('Test cases of an edge.');

/** A scenario file as it is written: keys with defaults may be left out. */
export interface ScenarioInput extends z.input<typeof scenarioFile> {}
export type ScenarioShell = z.output<typeof shellOf>;
export type ArrivalsConfig = NonNullable<ScenarioShell['simulation']>['arrivals'][number];
export type CaseConfig = z.output<typeof scenarioCase>;
export type RequestConfig = z.output<typeof request>;
export type TlsConfig = z.output<typeof tls>;
export type CertificateConfig = z.output<typeof clientCertificate>;
export type JwtConfig = NonNullable<z.output<typeof request>['jwt']>;
export type CaptureConfig = z.output<typeof capture>;
export type SendConfig = z.output<typeof send>;
export type StepConfig = z.output<typeof step>;
export type SampleConfig = z.output<typeof sample>;
export type ExpectationConfig = z.output<typeof expectation>;
export type BecauseConfig = z.output<typeof because>;
export type FetchSentConfig = z.output<typeof fetchSent>;
export type UpstreamSawConfig = z.output<typeof upstreamSaw>;
export type UpstreamConfig = z.output<typeof upstream>;
export type AgentConfig = z.output<typeof agents>[string];
export type AnswerConfig = z.output<typeof answer>;
export type NodesConfig = z.output<typeof nodes>;
export type NodesChangeConfig = z.output<z.ZodObject<typeof nodesChange>>;
export type MatcherConfig = z.output<typeof matcher>;
export type ExpectedValue = z.output<typeof expectedValue>;
export type Scalar = z.output<typeof scalar>;

/** The scenario file as a JSON Schema (draft 7) for editors and for the shape reader. */
export function scenarioJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(scenarioFile, { target: 'draft-7', io: 'input' });
  return { $schema, title: 'edgeproof scenario file', ...rest };
}
