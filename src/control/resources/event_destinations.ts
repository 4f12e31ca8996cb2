import * as z from 'zod';
import type { Body, Completed, Draft } from './contract.ts';
import { CLOUD_TARGETS, targetSchema } from './event_targets.ts';
import { derive, field, notes, resource } from './fields.ts';
import { refusedValue } from './problem.ts';

const SECRETS: ReadonlySet<string> = new Set([
  'aws_secret_access_key',
  'api_key',
  'client_secret',
  'signing_secret',
  'password',
  'token',
]);

const HEADERS_SHOWN = z.record(z.string(), z.string());

/** Targets that are not set are null, and secrets empty. */
const targetShown = z.object(
  Object.fromEntries(
    Object.entries(targetSchema.shape).map(([name, each]) => [name, shownSchema(each).nullable()]),
  ),
);

/** The schema of a part of a target in responses, where secrets do not have their form. */
function shownSchema(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return shownSchema(schema.unwrap() as z.ZodType).optional();
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>).map(
    ([name, each]): readonly [string, z.ZodType] => {
      if (SECRETS.has(name)) return [name, secretShown(each, z.string())];
      return [name, name === 'headers' ? secretShown(each, HEADERS_SHOWN) : shownSchema(each)];
    },
  );
  return z.strictObject(Object.fromEntries(shape)).describe(schema.description ?? '');
}

function secretShown(given: z.ZodType, shown: z.ZodType): z.ZodType {
  const described = shown.describe(given.description ?? '');
  return given instanceof z.ZodOptional ? described.optional() : described;
}

/** A target without its secrets. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    SECRETS.has(key) ? '' : key === 'headers' ? emptied(each as Body) : withoutSecrets(each),
  ]);
  return Object.fromEntries(entries);
}

/** Fields of requests often have credentials, under any name. */
function emptied(fields: Body): Body {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, '']));
}

function showTarget(target: unknown): Body {
  const cloud = Object.keys(CLOUD_TARGETS).map((name) => [name, null] as const);
  return { ...Object.fromEntries(cloud), ...(withoutSecrets(target) as Body) };
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
    once: { target: { ...showTarget(target), debug: { ...debug, signing_secret: signing } } },
  };
}

/** Refuses targets that API keys must not use. Host names are checked again when they are resolved. */
function checkReach(target: Readonly<Record<string, Body>>, ports: Draft['ports']): void {
  const { file } = target;
  if (file !== undefined && !ports.allowsEventFiles) {
    const message = 'Event files are not allowed: the instance was started without a folder for them.';
    throw refusedValue(236, '/target/file', message);
  }
  for (const [name, member] of ADDRESSES) {
    const given = target[name]?.[member] as string | readonly string[] | undefined;
    const place = `/target/${name}/${member}`;
    if (typeof given === 'string') checkUrl(given, place, ports);
    else given?.forEach((each, index) => checkUrl(urlOf(each), `${place}/${index}`, ports));
  }
}

/** Members of targets with addresses that an API key chooses. */
const ADDRESSES = [
  ['debug', 'callback_url'],
  ['azure_logs_ingestion', 'logs_ingestion_uri'],
  ['s3', 'endpoint'],
  ['otlp', 'url'],
  ['nats', 'servers'],
  ['kafka', 'brokers'],
] as const;

/** A host with a port, as URLs have them. */
function urlOf(address: string): string {
  return address.includes('://') ? address : `tcp://${address}`;
}

function checkUrl(url: string, pointer: string, ports: Draft['ports']): void {
  if (!URL.canParse(url)) throw refusedValue(236, pointer, `'${url}' is not a URL.`);
  const { hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw refusedValue(236, pointer, 'The URL of a destination must not contain a user and password.');
  }
  if (ports.refusesCallback(hostname)) {
    throw refusedValue(
      236,
      pointer,
      `'${hostname}' is on this machine or in its network, where destinations are not allowed.`,
    );
  }
}

export const eventDestinations = resource({
  kind: 'event_destination',
  title: 'event destination',
  path: '/event_destinations',
  prefix: 'ed',
  listKey: 'event_destinations',
  fields: {
    ...notes(),
    format: field(z.string().toLowerCase().pipe(z.literal('json')).describe('Format of events: json.'), {
      standard: 'json',
      emptyIsUnset: [''],
      codes: { bad: 235 },
    }),
    target: {
      write: { schema: targetSchema, create: 'required', update: 'keeps', codes: { missing: 236, bad: 236 } },
      read: { schema: targetShown, show: showTarget },
      secrets: [
        '/*/auth/creds/aws_secret_access_key',
        '/*/api_key',
        '/*/client_secret',
        '/*/signing_secret',
        '/*/headers/*',
        '/*/password',
        '/*/token',
        '/*/sasl/password',
      ],
    },
    status: derive(
      z.record(z.string(), z.unknown()).describe('Delivery status: state, message, waiting and dropped.'),
      (_body, { id, statusOf }) => statusOf(id),
    ),
  },
  codes: { notFound: 6006 },
  complete: completeDestination,
  secretKeys: ['status'],
});
