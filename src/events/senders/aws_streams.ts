import { type AwsAuth, type Arn, arnOf, awsService } from './aws.ts';
import { type CloudWorld, type Sent, type Target, envelopeOf, requests, withoutSender } from './sending.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** Kinesis Data Streams and Data Firehose: records with an outcome each. */

export interface FirehoseSettings {
  readonly auth: AwsAuth;
  readonly delivery_stream_arn: string;
}

export interface KinesisSettings {
  readonly auth: AwsAuth;
  readonly stream_arn: string;
}

/** The outcome of one record, in the order of the request. */
interface RecordOutcome {
  readonly ErrorCode?: string | null;
  readonly ErrorMessage?: string | null;
}

/** 500 records, 4 MiB, 1,000 KiB a record before base64 (Amazon Data Firehose API reference, PutRecordBatch). */
const FIREHOSE_LIMITS = { events: 500, bytes: 4 * 1_048_576, eventBytes: 1_024_000, overheadBytes: 1 };

/**
 * 500 records; 1 MiB a record with its key is the default of streams, of at most 10 MiB; 10 MiB a request, 5 until
 * 2025 (Amazon Kinesis Data Streams API reference, PutRecords and UpdateMaxRecordSize).
 */
const KINESIS_LIMITS = { events: 500, bytes: 5 * 1_048_576, eventBytes: 1_048_576, overheadBytes: 32 };

export function firehoseTarget(
  { auth, delivery_stream_arn: text }: FirehoseSettings,
  world: CloudWorld,
): Target {
  const arn = arnOf(text, 'firehose');
  const name = /^deliverystream\/(.+)$/.exec(arn?.resource ?? '')?.[1];
  if (arn === null || name === undefined)
    return withoutSender(`'${text}' is not the ARN of a delivery stream`);
  const put = {
    service: 'firehose',
    operation: 'Firehose_20150804.PutRecordBatch',
    limits: FIREHOSE_LIMITS,
    outcomes: 'RequestResponses',
    input: (events: readonly string[]) => ({
      DeliveryStreamName: name,
      // Firehose concatenates records; a line each keeps them apart.
      Records: events.map((event) => ({ Data: base64(`${event}\n`) })),
    }),
  };
  return recordTarget(put, { auth, arn, world });
}

export function kinesisTarget({ auth, stream_arn: text }: KinesisSettings, world: CloudWorld): Target {
  const arn = arnOf(text, 'kinesis');
  if (arn?.resource.startsWith('stream/') !== true)
    return withoutSender(`'${text}' is not the ARN of a stream`);
  const put = {
    service: 'kinesis',
    operation: 'Kinesis_20131202.PutRecords',
    limits: KINESIS_LIMITS,
    outcomes: 'Records',
    input: (events: readonly string[]) => ({
      StreamARN: text,
      Records: events.map((event) => ({
        Data: base64(event),
        PartitionKey: envelopeOf(event).event_id,
      })),
    }),
  };
  return recordTarget(put, { auth, arn, world });
}

interface Put {
  readonly service: string;
  readonly operation: string;
  readonly limits: NonNullable<Target['limits']>;
  /** The member of the answer with the outcomes. */
  readonly outcomes: string;
  readonly input: (events: readonly string[]) => object;
}

function recordTarget(
  { service, operation, limits, outcomes, input }: Put,
  { auth, arn, world }: { readonly auth: AwsAuth; readonly arn: Arn; readonly world: CloudWorld },
): Target {
  const sending = requests(world);
  const call = awsService(service, { auth, arn, sending, world });
  return {
    problem: null,
    limits,
    send: async (events) => {
      const said = await call(operation, input(events));
      if ('refused' in said) return said.refused;
      const list = (said.answer as Readonly<Record<string, readonly RecordOutcome[]>> | null)?.[outcomes];
      return Array.isArray(list) && list.length === events.length
        ? failedOf(service, list as readonly RecordOutcome[])
        : { problem: `${service} gave no outcome for each record` };
    },
    giveUp: sending.giveUp,
    close: async () => {},
  };
}

/** Records with an error code were not stored, mostly because of throughput: they alone are sent again. */
function failedOf(service: string, outcomes: readonly RecordOutcome[]): Sent {
  const again = outcomes.flatMap(({ ErrorCode: code }, index) => (code ? [index] : []));
  if (again.length === 0) return { problem: null };
  const { ErrorCode: code, ErrorMessage: message } = outcomes[again[0]!]!;
  return {
    problem: `${service} refused ${counted(again.length, 'record')}: ${code} ${message ?? ''}`.trim(),
    again,
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
