import { nodeZlib } from '../../loading/builtins.ts';
import { type AwsAuth, awsRequests, endpointOf } from './aws.ts';
import { type CloudWorld, type Target, envelopeOf, requests } from './sending.ts';

export interface S3Settings {
  readonly auth: AwsAuth;
  readonly bucket: string;
  readonly region: string;
  /** Begins the names of objects, such as `edge/events`; may be empty. */
  readonly prefix: string;
  /** Base URL of a service with the API of S3, such as MinIO; the bucket is then the first part of the path. */
  readonly endpoint?: string;
  /** An object is written at this size of its events, before compression, */
  readonly max_bytes: number;
  /** or when its oldest event has this age. */
  readonly max_seconds: number;
}

/** Events of an object; an object itself may have 5 GB in one PUT (S3 user guide, "Uploading objects"). */
const OBJECT_EVENTS = 10_000;

/**
 * Objects of gzipped NDJSON: `prefix/yyyy/mm/dd/hh/<id of the first event>.ndjson.gz`, with the events of one
 * hour of UTC. The name is that of the first pending event, so a repeated PUT, also after a restart, replaces the
 * object by one that begins with the same events: nothing is there twice.
 */
export function s3Target(settings: S3Settings, world: CloudWorld): Target {
  const { auth, bucket, region, prefix, max_bytes: bytes, max_seconds: seconds } = settings;
  const partition = region.startsWith('cn-') ? 'aws-cn' : 'aws';
  const arn = { partition, region, resource: bucket };
  const sending = requests(world);
  const put = awsRequests('s3', { auth, arn, sending, world });
  const base = baseOf(settings, world, partition);
  return {
    problem: null,
    limits: { events: OBJECT_EVENTS, bytes, eventBytes: bytes, overheadBytes: 1, lingerMs: seconds * 1_000 },
    send: async (events) => {
      const first = envelopeOf(events[0]!);
      const hour = hourOf(first.event_timestamp);
      const end = events.findIndex((event) => hourOf(envelopeOf(event).event_timestamp) !== hour);
      const count = end === -1 ? events.length : end;
      const name = [...prefix.split('/').filter((part) => part !== ''), hour, `${first.event_id}.ndjson.gz`];
      const said = await put({
        method: 'PUT',
        url: new URL(name.join('/').split('/').map(encodeURIComponent).join('/'), base),
        headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
        body: nodeZlib().gzipSync(
          events
            .slice(0, count)
            .map((event) => `${event}\n`)
            .join(''),
        ),
      });
      if ('refused' in said)
        return said.code === 'EntityTooLarge' ? { ...said.refused, divide: true } : said.refused;
      return { problem: null, again: Array.from(events.keys()).slice(count) };
    },
    giveUp: sending.giveUp,
    close: async () => {},
  };
}

/** `2026-01-31T23:59:59Z` → `2026/01/31/23`. */
function hourOf(timestamp: string): string {
  return new Date(timestamp).toISOString().slice(0, 13).replaceAll(/[-T]/g, '/');
}

/** The URL of the bucket: a part of the path for given endpoints, of the host for AWS. */
function baseOf({ bucket, region, endpoint }: S3Settings, world: CloudWorld, partition: string): URL {
  const given = endpoint ?? world.endpoint?.('s3');
  if (given !== undefined) return new URL(`${encodeURIComponent(bucket)}/`, given.replace(/\/*$/, '/'));
  const { host } = endpointOf('s3', { partition, region, resource: bucket }, world);
  return new URL(`https://${bucket}.${host}/`);
}
