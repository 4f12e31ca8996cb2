import { nodeZlib } from '../../loading/builtins.ts';
import { type CloudWorld, type Target, envelopeOf, refusal, requests, withoutSender } from './sending.ts';

export interface DatadogSettings {
  readonly api_key: string;
  readonly ddtags?: string;
  readonly service?: string;
  /** Such as `datadoghq.eu`; default `datadoghq.com`. */
  readonly ddsite?: string;
}

/** 1,000 logs, 5 MB before compression, 1 MB a log, which is truncated otherwise (Datadog API reference, Send logs). */
const LIMITS = { events: 1_000, bytes: 5_000_000, eventBytes: 1_000_000, overheadBytes: 512 };

/** Logs may be 18 hours old (same page); older ones get the oldest time that is surely taken. */
const OLDEST_MS = 17 * 3_600_000;

/** Names of hosts only: the site becomes a part of the URL. */
const SITE = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;

/** A log is the event as JSON text, which Datadog parses. */
export function datadogTarget(
  { api_key: apiKey, ddtags, service, ddsite }: DatadogSettings,
  world: CloudWorld,
): Target {
  const site = ddsite || 'datadoghq.com';
  if (!SITE.test(site)) return withoutSender(`'${site}' is not a Datadog site`);
  const base = world.endpoint?.('datadog') ?? `https://http-intake.logs.${site}/`;
  const url = new URL('api/v2/logs', base).href;
  const sending = requests(world);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip', 'dd-api-key': apiKey };
  return {
    problem: null,
    limits: { ...LIMITS, overheadBytes: LIMITS.overheadBytes + (ddtags?.length ?? 0) },
    send: async (events) => {
      const oldest = sending.nowMs() - OLDEST_MS;
      const logs = events.map((event) => ({
        ddsource: 'edgeproof',
        ...(ddtags && { ddtags }),
        ...(service && { service }),
        timestamp: Math.max(oldest, Date.parse(envelopeOf(event).event_timestamp)),
        message: event,
      }));
      const posted = await sending.post(url, { headers, body: nodeZlib().gzipSync(JSON.stringify(logs)) });
      return posted.status === 202 ? { problem: null } : refusal('datadog', posted, sending.nowMs());
    },
    giveUp: sending.giveUp,
    close: async () => {},
  };
}
