import { callbackPost } from '../clients/callback_post.ts';
import { guardedDial } from '../clients/guarded_dial.ts';
import { kafkaQueue } from '../clients/kafka.ts';
import { type NatsSettings, natsQueue } from '../clients/nats.ts';
import { exporterTo } from '../events/exporter.ts';
import { eventJson } from '../events/json.ts';
import type { LostEvents } from '../events/lost.ts';
import { type EventWriter, ndjsonSink } from '../events/ndjson.ts';
import { kafkaTarget, natsTarget } from '../events/senders/queues.ts';
import { FileError } from '../project_files/load_config.ts';

/** The destination of `--events`: a file, standard output, or a queue. Throws FileError for a URL that names no queue. */
export async function eventSink(
  place: string,
  { lost, say }: { readonly lost: LostEvents; readonly say: (line: string) => void },
): Promise<EventWriter> {
  return /^[a-z]+:\/\//.test(place) ? queueSink(place, say) : ndjsonSink(place, { lost });
}

/** Holds what a busy edge writes while a queue restarts: half a minute of 1,500 requests/s. */
const WAITING_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * A queue that many nodes write to: the id of an event is that of its message, so that repetitions are dropped or known. Events
 * wait in memory while it is away; those beyond the limit, or left at the end, are reported.
 */
function queueSink(place: string, say: (line: string) => void): EventWriter {
  // The operator names the server, so that it may be on this network.
  const reach = { own: [], allowPrivate: true };
  const dial = guardedDial(reach);
  const world = {
    nowMs: Date.now,
    random: Math.random,
    post: callbackPost(reach),
    queues: {
      nats: (settings: Parameters<typeof natsQueue>[0]) => natsQueue(settings, dial),
      kafka: (settings: Parameters<typeof kafkaQueue>[0]) => kafkaQueue(settings, dial),
    },
  };
  const { protocol, host, name } = partsOf(place);
  const server = `${protocol}//${host}`;
  const target =
    protocol === 'kafka:'
      ? kafkaTarget({ brokers: [host], topic: name, tls: false }, world)
      : natsTarget(natsPlace(place), world);
  const exporter = exporterTo('events', target, {
    ...world,
    bufferLimitBytes: WAITING_LIMIT_BYTES,
    say,
    way: `to ${server}`,
  });
  return {
    write: (event) => exporter.take(eventJson(event)),
    writeJson: exporter.take,
    close: exporter.close,
  };
}

/** A name without a password is a token, as in other clients of NATS. */
function credentials(user: string, password: string): { user?: string; password?: string; token?: string } {
  if (user === '') return {};
  return password === '' ? { token: user } : { user, password };
}

/** The server, subject and credentials of a queue of NATS. Throws FileError for other places. */
export function natsPlace(place: string): NatsSettings {
  const { protocol, host, name, user, password } = partsOf(place);
  if (protocol === 'kafka:')
    throw new FileError(`${place}: name a queue of NATS, such as nats://host:4222/subject`);
  return { servers: [`${protocol}//${host}`], subject: name, ...credentials(user, password) };
}

function partsOf(place: string) {
  const url = URL.parse(place);
  const name = decodeURIComponent(url?.pathname.slice(1) ?? '');
  const isKnown = url !== null && ['nats:', 'tls:', 'kafka:'].includes(url.protocol);
  const isSafe = url?.protocol !== 'kafka:' || url.username === '';
  if (!isKnown || !isSafe || url.hostname === '' || !/^[\w.-]+$/.test(name))
    throw new FileError(
      `${place.replace(/\/\/.*@/, '//')} is not the place of a queue: write nats://host:4222/subject, tls://host:4222/subject or kafka://host:9092/topic`,
    );
  const { protocol, host, username: user, password } = url;
  return { protocol, host, name, user: decodeURIComponent(user), password: decodeURIComponent(password) };
}
