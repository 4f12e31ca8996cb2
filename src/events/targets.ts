import { type FileSettings, lineFile } from './file_target.ts';
import { hmac, hmacKey } from '../crypto/digest.ts';
import {
  type FirehoseSettings,
  type KinesisSettings,
  firehoseTarget,
  kinesisTarget,
} from './senders/aws_streams.ts';
import { type AzureLogsSettings, azureLogsTarget } from './senders/azure_logs.ts';
import { type CloudwatchLogsSettings, cloudwatchLogsTarget } from './senders/cloudwatch_logs.ts';
import { type DatadogSettings, datadogTarget } from './senders/datadog.ts';
import { type S3Settings, s3Target } from './senders/s3.ts';
import { type OtlpSettings, otlpTarget } from './senders/otlp.ts';
import { kafkaTarget, natsTarget } from './senders/queues.ts';
import {
  type CloudWorld,
  type KafkaSettings,
  type NatsSettings,
  type Requests,
  type Target,
  requests,
  withoutSender,
} from './senders/sending.ts';

interface DebugSettings {
  readonly log: boolean;
  readonly callback_url?: string;
  readonly signing_secret?: string;
}

/** The stored target of an event destination; exactly one member. */
export interface TargetSettings {
  readonly firehose?: FirehoseSettings;
  readonly kinesis?: KinesisSettings;
  readonly cloudwatch_logs?: CloudwatchLogsSettings;
  readonly datadog?: DatadogSettings;
  readonly azure_logs_ingestion?: AzureLogsSettings;
  readonly s3?: S3Settings;
  readonly otlp?: OtlpSettings;
  readonly nats?: NatsSettings;
  readonly kafka?: KafkaSettings;
  readonly file?: FileSettings;
  readonly debug?: DebugSettings;
}

export interface TargetWorld extends CloudWorld {
  /** Writes to standard output, for the logging target. */
  readonly say: (text: string) => void;
  /** Folder for event files; without it they are refused. */
  readonly eventFiles?: string;
}

type Make<Settings> = (id: string, settings: Settings, world: TargetWorld) => Target;

// table: targets by name
const TARGETS: { readonly [Name in keyof TargetSettings]-?: Make<NonNullable<TargetSettings[Name]>> } = {
  firehose: (_id, settings, world) => firehoseTarget(settings, world),
  kinesis: (_id, settings, world) => kinesisTarget(settings, world),
  cloudwatch_logs: cloudwatchLogsTarget,
  datadog: (_id, settings, world) => datadogTarget(settings, world),
  azure_logs_ingestion: (_id, settings, world) => azureLogsTarget(settings, world),
  s3: (_id, settings, world) => s3Target(settings, world),
  otlp: (_id, settings, world) => otlpTarget(settings, world),
  nats: (_id, settings, world) => natsTarget(settings, world),
  kafka: (_id, settings, world) => kafkaTarget(settings, world),
  file: fileTarget,
  debug: (_id, settings, world) => debugTarget(settings, world),
};

/** Creates the sender of a destination. */
export function targetOf(id: string, settings: TargetSettings, world: TargetWorld): Target {
  const [[name, given] = ['nothing', undefined]] = Object.entries(settings);
  const make = TARGETS[name as keyof TargetSettings] as Make<unknown> | undefined;
  return make?.(id, given, world) ?? withoutSender(`this version has no sender for ${name}`);
}

function fileTarget(id: string, settings: FileSettings, { eventFiles }: TargetWorld): Target {
  if (eventFiles === undefined)
    return withoutSender('event files are not allowed: the instance was started without a folder for them');
  // Destinations of older stores may have a path, which is no longer supported.
  if (typeof settings.name !== 'string') return withoutSender('the destination has a path; use a file name');
  const { append, close } = lineFile(eventFiles, id, settings);
  return {
    problem: null,
    send: async (events) => ({ problem: await append(events) }),
    giveUp: () => {},
    close,
  };
}

function debugTarget(settings: DebugSettings, world: TargetWorld): Target {
  const { log, callback_url: url, signing_secret: secret = '' } = settings;
  const sending = requests(world);
  const post = url === undefined ? null : callback({ url, secret }, sending);
  /** Batches that were logged before their callback failed are not logged again. */
  let logged: readonly string[] | null = null;
  return {
    problem: null,
    send: async (events) => {
      if (log && logged !== events) world.say(events.map((event) => `${event}\n`).join(''));
      logged = events;
      return { problem: post === null ? null : await post(events) };
    },
    giveUp: sending.giveUp,
    close: async () => {},
  };
}

export interface CallbackSettings {
  readonly url: string;
  readonly secret: string;
}

/**
 * The message for every failed attempt. API keys can choose the URL and read the status, so it must not
 * distinguish closed ports from silent ones, or names of private addresses from unknown names.
 */
const NOT_ACCEPTED = 'the callback did not accept the events';

/**
 * Posts batches to a URL, signed according to Standard Webhooks: HMAC-SHA256 over id, timestamp and body,
 * joined by dots. A repeated batch has the same id. Redirects count as failures, like every status except
 * 2xx.
 */
export function callback(
  { url, secret }: CallbackSettings,
  sending: Requests,
): (events: readonly string[]) => Promise<string | null> {
  const key = hmacKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  return async (events) => {
    const body = `{"events":[${events.join(',')}]}`;
    const first = JSON.parse(events[0]!) as { readonly event_id: string };
    const id = `batch_${first.event_id}_${events.length}`;
    const timestamp = String(Math.floor(sending.nowMs() / 1000));
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${hmac('sha256', key, [`${id}.${timestamp}.${body}`], 'base64')}`,
    };
    const status = await sending.post(url, { headers, body }).then(
      (posted) => posted.status,
      () => 0,
    );
    return status >= 200 && status < 300 ? null : NOT_ACCEPTED;
  };
}
