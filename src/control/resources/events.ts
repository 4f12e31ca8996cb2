import * as z from 'zod';
import type { Body, Completed, Draft, Resource } from './contract.ts';
import { createdAt, derive, field, notes, refs } from './fields.ts';
import { ApiProblem, COMMON, refusedValue } from './problem.ts';

export const sourceSchema = z
  .strictObject({
    type: z.string().min(1).describe('Event type that triggers the subscription.'),
    filter: z.string().optional().describe('Expression over ev; only for traffic events.'),
    fields: z.array(z.string()).optional().describe('Fields to capture, default all; traffic events only.'),
  })
  .describe('One event type, and the captured fields.');

/** Throws if a source is invalid; `pointer` is its place. */
export function checkSource(source: Body, pointer: string, ports: Draft['ports']): void {
  const problem = ports.sourceProblem(source);
  if (problem !== null) throw refusedValue(problem.number, `${pointer}/${problem.key}`, problem.message);
}

/** The uri of a source, below that of its subscription. */
export function showSource(source: Body, subscriptionUri: string): Body {
  return { ...source, uri: `${subscriptionUri}/sources/${String(source['type'])}` };
}

function completeSubscription({ body, given, ports }: Draft): Completed {
  if (given['sources'] !== undefined) {
    const sources = body['sources'] as readonly Body[];
    for (const [index, source] of sources.entries()) {
      checkSource(source, `/sources/${index}`, ports);
      if (sources.findIndex((other) => other['type'] === source['type']) < index) {
        throw new ApiProblem(409, COMMON.badValue, 'A subscription must not have two sources of one type.', {
          pointer: `/sources/${index}/type`,
        });
      }
    }
  }
  return { body };
}

export const eventSubscriptions: Resource = {
  kind: 'event_subscription',
  title: 'event subscription',
  path: '/event_subscriptions',
  prefix: 'esb',
  listKey: 'event_subscriptions',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(COMMON.badValue, COMMON.badValue),
    sources: {
      write: {
        schema: z.array(sourceSchema).describe('Events that trigger the subscription.'),
        create: 'optional',
        update: 'keeps',
        standard: [],
      },
      read: {
        name: 'sources',
        schema: z.array(sourceSchema.extend({ uri: z.string() })),
        show: (body, { id, refOf }) =>
          (body['sources'] as readonly Body[]).map((source) => showSource(source, refOf(id).uri)),
      },
    },
    destination_ids: refs('destination_ids', 'destinations', 'Destinations of the events.', {
      kinds: ['event_destination'],
      missing: 6006,
      standard: [],
    }),
    created_at: createdAt,
  },
  codes: { notFound: COMMON.notFound, inUse: COMMON.badValue },
  complete: completeSubscription,
};

const secret = z.string().describe('Secret; never returned.');
const awsAuth = z
  .strictObject({
    role: z.strictObject({ role_arn: z.string().min(1) }).optional(),
    creds: z.strictObject({ aws_access_key_id: z.string().min(1), aws_secret_access_key: secret }).optional(),
  })
  .describe('A role or credentials.');

/** Targets that are stored but not delivered to: they have no senders yet, and the delivery status says so. */
const CLOUD_TARGETS = {
  firehose: z.strictObject({ auth: awsAuth, delivery_stream_arn: z.string().min(1) }),
  kinesis: z.strictObject({ auth: awsAuth, stream_arn: z.string().min(1) }),
  cloudwatch_logs: z.strictObject({ auth: awsAuth, log_group_arn: z.string().min(1) }),
  datadog: z.strictObject({
    api_key: secret,
    ddtags: z.string().optional(),
    service: z.string().optional(),
    ddsite: z.string().optional(),
  }),
  azure_logs_ingestion: z.strictObject({
    tenant_id: z.string(),
    client_id: z.string(),
    client_secret: secret,
    logs_ingestion_uri: z.string(),
    data_collection_rule_id: z.string(),
    data_collection_stream_name: z.string(),
  }),
};

const FILE_LIMIT_BYTES = 100_000_000;
const FILES_KEPT = 5;

/** Targets of a local edge. */
const LOCAL_TARGETS = {
  file: z
    .strictObject({
      name: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)
        .describe('Name of the file (not a path); each event is appended as one line of JSON.'),
      max_bytes: z.int().min(1).default(FILE_LIMIT_BYTES).describe('Size at which a new file is started.'),
      max_files: z.int().min(0).max(1000).default(FILES_KEPT).describe('Number of full files to keep.'),
    })
    .describe('A file in the event folder, in a subfolder named after the id of the destination.'),
  debug: z
    .strictObject({
      log: z.boolean().default(false).describe('Whether events are written to standard output.'),
      callback_url: z
        .string()
        .regex(/^https?:\/\/[^\s#]+$/)
        .optional()
        .describe('URL to which batches of events are posted; not on this machine or its network.'),
      signing_secret: z
        .string()
        .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/)
        .optional()
        .describe('Secret for signing batches; generated if omitted, shown once.'),
    })
    .describe('Standard output, or a URL.'),
};

const targets = { ...CLOUD_TARGETS, ...LOCAL_TARGETS };
const targetSchema = z
  .strictObject({
    firehose: targets.firehose.optional(),
    kinesis: targets.kinesis.optional(),
    cloudwatch_logs: targets.cloudwatch_logs.optional(),
    datadog: targets.datadog.optional(),
    azure_logs_ingestion: targets.azure_logs_ingestion.optional(),
    file: targets.file.optional(),
    debug: targets.debug.optional(),
  })
  .describe('Where events are sent: exactly one target.');

const SECRETS: ReadonlySet<string> = new Set([
  'aws_secret_access_key',
  'api_key',
  'client_secret',
  'signing_secret',
]);

/** A target without its secrets. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    SECRETS.has(key) ? '' : withoutSecrets(each),
  ]);
  return Object.fromEntries(entries);
}

function showTarget(body: Body): Body {
  const target = withoutSecrets(body['target']) as Body;
  const cloud = Object.keys(CLOUD_TARGETS).map((name) => [name, null] as const);
  return { ...Object.fromEntries(cloud), ...target };
}

/** Characters of a generated signing secret: 24 bytes in base64. */
const SIGNING_SECRET_LENGTH = 32;

function completeDestination({ body, given, ports }: Draft): Completed {
  if (given['target'] === undefined) return { body };
  const target = body['target'] as Readonly<Record<string, Body>>;
  const [name, ...others] = Object.keys(target);
  if (name === undefined || others.length > 0) {
    throw refusedValue(
      236,
      '/target',
      `A destination must have exactly one target, not ${others.length + (name === undefined ? 0 : 1)}.`,
    );
  }
  const auth = target[name]!['auth'] as Body | undefined;
  if (auth !== undefined && Object.keys(auth).length !== 1) {
    throw refusedValue(
      240,
      `/target/${name}/auth`,
      'The authentication must be either a role or credentials.',
    );
  }
  checkReach(target, ports);
  const debug = target['debug'];
  if (debug === undefined) return { body };
  if (debug['callback_url'] === undefined) {
    if (debug['log'] === true) return { body };
    throw refusedValue(236, '/target/debug', 'The target debug requires log or callback_url.');
  }
  const signing =
    (debug['signing_secret'] as string | undefined) ?? `whsec_${ports.secretText(SIGNING_SECRET_LENGTH)}`;
  const kept = { ...body, target: { debug: { ...debug, signing_secret: signing } } };
  return {
    body: kept,
    once: { target: { ...showTarget(body), debug: { ...debug, signing_secret: signing } } },
  };
}

/** Refuses targets that API keys must not use. Host names are checked again when they are resolved. */
function checkReach({ file, debug }: Readonly<Record<string, Body>>, ports: Draft['ports']): void {
  if (file !== undefined && !ports.allowsEventFiles) {
    const message = 'Event files are not allowed: the instance was started without a folder for them.';
    throw refusedValue(236, '/target/file', message);
  }
  const url = debug?.['callback_url'] as string | undefined;
  if (url === undefined) return;
  const pointer = '/target/debug/callback_url';
  if (!URL.canParse(url)) throw refusedValue(236, pointer, `'${url}' is not a URL.`);
  const { hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw refusedValue(
      236,
      pointer,
      'A callback URL must not contain a user and password; batches are signed.',
    );
  }
  if (ports.refusesCallback(hostname)) {
    throw refusedValue(
      236,
      pointer,
      `'${hostname}' is on this machine or in its network, where callbacks are not allowed.`,
    );
  }
}

export const eventDestinations: Resource = {
  kind: 'event_destination',
  title: 'event destination',
  path: '/event_destinations',
  prefix: 'ed',
  listKey: 'event_destinations',
  operations: ['create', 'get', 'list', 'update', 'delete'],
  fields: {
    ...notes(COMMON.badValue, COMMON.badValue),
    format: field(
      'format',
      z.string().toLowerCase().pipe(z.literal('json')).describe('Format of events: json.'),
      { standard: 'json', codes: { bad: 235 } },
    ),
    target: {
      write: { schema: targetSchema, create: 'required', update: 'keeps', codes: { missing: 236, bad: 236 } },
      read: { name: 'target', schema: z.record(z.string(), z.unknown()), show: showTarget },
      secrets: ['/*/auth/creds/aws_secret_access_key', '/*/api_key', '/*/client_secret', '/*/signing_secret'],
    },
    status: derive(
      'status',
      z.record(z.string(), z.unknown()).describe('Delivery status: state, message, waiting and dropped.'),
      (_body, { id, statusOf }) => statusOf(id),
    ),
    created_at: createdAt,
  },
  codes: { notFound: 6006, inUse: COMMON.badValue },
  complete: completeDestination,
  secretKeys: ['status'],
};
