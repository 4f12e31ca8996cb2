import { type AwsAuth, arnOf, awsService } from './aws.ts';
import { type CloudWorld, type Sent, type Target, envelopeOf, requests, withoutSender } from './sending.ts';

export interface CloudwatchLogsSettings {
  readonly auth: AwsAuth;
  readonly log_group_arn: string;
}

/**
 * 10,000 events, 1,048,576 bytes with 26 bytes an event, 24 h from the first to the last; 1 MB an event, 256 KB until
 * 2025 (Amazon CloudWatch Logs API reference, PutLogEvents).
 */
const BATCH_BYTES = 1_048_576;
const LIMITS = { events: 1_000, bytes: BATCH_BYTES, eventBytes: BATCH_BYTES, overheadBytes: 26 };
const SPAN_MS = 86_400_000;

/** Indexes into the batch: before `…EndIndex` events are refused, and from `tooNew…StartIndex` on. */
interface Rejected {
  readonly tooNewLogEventStartIndex?: number | null;
  readonly tooOldLogEventEndIndex?: number | null;
  readonly expiredLogEventEndIndex?: number | null;
}

/** The log stream is named after the destination and created when it is first needed. */
export function cloudwatchLogsTarget(
  id: string,
  { auth, log_group_arn: text }: CloudwatchLogsSettings,
  world: CloudWorld,
): Target {
  const arn = arnOf(text, 'logs');
  const group = /^log-group:([^:*]+)(?::\*)?$/.exec(arn?.resource ?? '')?.[1];
  if (arn === null || group === undefined) return withoutSender(`'${text}' is not the ARN of a log group`);
  const sending = requests(world);
  const call = awsService('logs', { auth, arn, sending, world });
  const names = { logGroupName: group, logStreamName: id };
  const put = async (logEvents: readonly object[]) =>
    call('Logs_20140328.PutLogEvents', { ...names, logEvents });
  return {
    problem: null,
    limits: LIMITS,
    send: async (events) => {
      const { order, later } = chronological(events);
      const logEvents = order.map(({ timestamp, index }) => ({ timestamp, message: events[index]! }));
      let said = await put(logEvents);
      if ('refused' in said && said.code === 'ResourceNotFoundException') {
        const made = await call('Logs_20140328.CreateLogStream', names);
        if ('refused' in made && made.code !== 'ResourceAlreadyExistsException') return made.refused;
        said = await put(logEvents);
      }
      if ('refused' in said) return said.refused;
      const { rejectedLogEventsInfo: rejected } = (said.answer ?? {}) as {
        readonly rejectedLogEventsInfo?: Rejected | null;
      };
      return { problem: null, again: later, dead: deadOf(rejected ?? {}, order) };
    },
    giveUp: sending.giveUp,
    close: async () => {},
  };
}

interface Timed {
  readonly index: number;
  readonly timestamp: number;
}

/** Events by time, as the service demands, within its longest span; later ones wait for the next batch. */
function chronological(events: readonly string[]): { order: readonly Timed[]; later: readonly number[] } {
  const timed = events
    .map((event, index) => ({ index, timestamp: Date.parse(envelopeOf(event).event_timestamp) }))
    .toSorted((one, other) => one.timestamp - other.timestamp);
  const end = timed[0]!.timestamp + SPAN_MS;
  const order = timed.filter(({ timestamp }) => timestamp < end);
  const later = timed.slice(order.length).map(({ index }) => index);
  return { order, later: later.toSorted((one, other) => one - other) };
}

/** Events outside of the service's or the group's period are never accepted. */
function deadOf(
  {
    tooNewLogEventStartIndex: newFrom,
    tooOldLogEventEndIndex: oldTo,
    expiredLogEventEndIndex: expiredTo,
  }: Rejected,
  order: readonly Timed[],
): NonNullable<Sent['dead']> {
  return order.flatMap(({ index }, place) => {
    if (place < (oldTo ?? 0)) return [{ index, reason: 'too old for CloudWatch Logs' }];
    if (place < (expiredTo ?? 0)) return [{ index, reason: 'older than the retention of the log group' }];
    if (place >= (newFrom ?? Number.POSITIVE_INFINITY)) return [{ index, reason: 'too far in the future' }];
    return [];
  });
}
