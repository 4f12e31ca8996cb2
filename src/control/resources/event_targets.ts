import * as z from 'zod';
import { isFraming, isHopByHop } from '../../http/forwarding.ts';

const SECRET = 'Secret; never returned.';
/** Responses leave secrets empty, so an empty one has been read there: it would replace the secret. */
const secret = z.string().min(1).describe(SECRET);
/** What is sent as the value of a field: Latin-1 without control characters except tab (RFC 9110 §5.5). */
const fieldValue = z
  .string()
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/)
  .meta({ form: 'a text that HTTP can send: Latin-1 without line breaks and other control characters' });
const awsAuth = z
  .strictObject({
    role: z.strictObject({ role_arn: z.string().min(1) }).optional(),
    creds: z.strictObject({ aws_access_key_id: fieldValue.min(1), aws_secret_access_key: secret }).optional(),
  })
  .describe('A role or credentials.');

/** The documented targets. */
export const CLOUD_TARGETS = {
  firehose: z.strictObject({ auth: awsAuth, delivery_stream_arn: z.string().min(1) }),
  kinesis: z.strictObject({ auth: awsAuth, stream_arn: z.string().min(1) }),
  cloudwatch_logs: z.strictObject({ auth: awsAuth, log_group_arn: z.string().min(1) }),
  datadog: z.strictObject({
    api_key: fieldValue.min(1).describe(SECRET),
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

const httpUrl = z.string().regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s#]+$/);
const OBJECT_BYTES = 8_388_608;
const OBJECT_LEAST_BYTES = 1_048_576;
const OBJECT_SECONDS = 60;
const hostWithPort = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/;

/** A name that the client of the destination does not set itself. */
const fieldName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'it is not the name of an HTTP field')
  .refine((name) => !isFraming(name.toLowerCase()) && !isHopByHop(name.toLowerCase()), {
    error: 'fields of the connection are not set by hand',
  });

/** Targets that are our extension. */
const FURTHER_TARGETS = {
  s3: z
    .strictObject({
      auth: awsAuth,
      bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
      region: z
        .string()
        .regex(/^[a-z0-9-]+$/)
        .default('us-east-1'),
      prefix: z
        .string()
        .regex(/^(?:[A-Za-z0-9_=-][A-Za-z0-9._=-]*(?:\/|$))*$/)
        .max(512)
        .default('')
        .describe('Prefix of the object names, such as edge/events.'),
      endpoint: httpUrl
        .optional()
        .describe('URL of a service with the API of S3; the bucket is then a part of the path.'),
      max_bytes: z.int().min(OBJECT_LEAST_BYTES).max(OBJECT_BYTES).default(OBJECT_BYTES),
      max_seconds: z.int().min(0).max(3_600).default(OBJECT_SECONDS),
    })
    .describe('Gzipped NDJSON objects prefix/yyyy/mm/dd/hh/ID.ndjson.gz, written by size and age.'),
  otlp: z
    .strictObject({
      url: httpUrl.describe('Base URL of an OTLP/HTTP receiver; v1/logs and v1/traces are appended.'),
      headers: z
        .record(fieldName, fieldValue.min(1).max(4_096))
        .optional()
        .describe('Fields of requests; their values are never returned.'),
      encoding: z.enum(['protobuf', 'json']).default('protobuf'),
      compression: z.enum(['gzip', 'none']).default('gzip'),
      signals: z
        .array(z.enum(['logs', 'traces']))
        .min(1)
        .default(['logs', 'traces']),
      service: z.string().min(1).max(100).optional().describe('Value of service.name; default edgeproof.'),
    })
    .describe('Logs of events and traces of decisions by OTLP/HTTP.'),
  nats: z
    .strictObject({
      servers: z
        .array(z.string().regex(/^(?:nats|tls):\/\/(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/))
        .min(1)
        .max(10),
      subject: z.string().regex(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/),
      user: z.string().optional(),
      password: secret.optional(),
      token: secret.optional(),
    })
    .describe('A NATS JetStream stream that takes this subject; the id of a message is that of its event.'),
  kafka: z
    .strictObject({
      brokers: z.array(z.string().regex(hostWithPort)).min(1).max(10),
      topic: z.string().regex(/^[A-Za-z0-9._-]{1,249}$/),
      tls: z.boolean().default(true),
      sasl: z
        .strictObject({
          mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']),
          username: z.string().min(1),
          password: secret,
        })
        .optional(),
    })
    .describe('A topic of Kafka; the key of a record is the type of its event.'),
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
        .regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s#]+$/)
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

const targets = { ...CLOUD_TARGETS, ...FURTHER_TARGETS, ...LOCAL_TARGETS };
export const targetSchema = z
  .strictObject({
    firehose: targets.firehose.optional(),
    kinesis: targets.kinesis.optional(),
    cloudwatch_logs: targets.cloudwatch_logs.optional(),
    datadog: targets.datadog.optional(),
    azure_logs_ingestion: targets.azure_logs_ingestion.optional(),
    s3: targets.s3.optional(),
    otlp: targets.otlp.optional(),
    nats: targets.nats.optional(),
    kafka: targets.kafka.optional(),
    file: targets.file.optional(),
    debug: targets.debug.optional(),
  })
  .describe('Where events are sent: exactly one target.');
