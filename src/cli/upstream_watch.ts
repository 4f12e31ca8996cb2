import { type LookupFunction, connect } from 'node:net';
import { listed } from '../diagnostics/message_text.ts';
import { detailText } from '../diagnostics/system_failure.ts';
import { upstreamsOf } from '../edge/backends.ts';
import { tablesOf } from '../edge/document/config_tables.ts';
import type { EdgeOfFile } from '../edgeproof.ts';
import { createAddresses } from '../io/addresses.ts';
import type { NameOf } from './request_log.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';

/** Time between two looks at an upstream that is missing, in ms: the first, and the longest; it doubles. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** An upstream that has not answered by then is missing. */
const CONNECT_MS = 3_000;
/** How long an upstream has to close a connection that was only opened to see whether it is there. */
const CLOSE_MS = 1_000;

export interface UpstreamWatch {
  /** Seeks the upstreams that are new in the configuration. */
  readonly look: () => void;
  /** A request could not reach a backend. */
  readonly missed: (backend: string) => void;
  readonly close: () => void;
}

interface Place {
  readonly host: string;
  readonly port: number;
  /** What it is called in messages. */
  readonly name: string;
  /** The backends that are there. */
  readonly ids: readonly string[];
}

interface Watched {
  /** Null before there is one. */
  readonly config: () => EdgeConfig | null;
  /** The name of a backend for messages; null where it has none that users know. */
  readonly backendName: (id: string) => string | null;
  /** How long requests wait for an upstream. */
  readonly waitMs: number;
  readonly say: (text: string) => void;
}

/** Says once which upstreams cannot be reached, and once when they can. */
function watchUpstreams({ config, backendName, waitMs, say }: Watched): UpstreamWatch {
  /** Upstreams that were reached, or that are being sought, by address. */
  const known = new Map<string, 'there' | 'looking'>();
  const ending = new AbortController();
  const { signal } = ending;
  // The system continues look-ups that are not waited for: those of a name without an answer would pile up.
  const lookup = createAddresses();
  const now = (): ReadonlyMap<string, Place> => placesOf(config(), backendName);
  const look = (): void => {
    const places = now();
    for (const address of known.keys()) if (!places.has(address)) known.delete(address);
    for (const address of places.keys()) if (!known.has(address)) watch(address);
  };
  const watch = (address: string): void => {
    known.set(address, 'looking');
    void follow(address);
  };
  const follow = async (address: string): Promise<void> => {
    let isSaid = false;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const place = now().get(address);
      if (place === undefined || signal.aborted) return;
      const problem = await problemOf(place, lookup, signal);
      if (signal.aborted || known.get(address) !== 'looking') return;
      if (problem === null) {
        known.set(address, 'there');
        if (isSaid) say(`${place.name} is there`);
        return;
      }
      if (!isSaid) say(`waiting for ${place.name}: ${problem}; ${meanwhile(waitMs)}`);
      isSaid = true;
      await pause(pauseMs, signal);
    }
  };
  return {
    look,
    missed: (backend) => {
      for (const [address, { ids }] of now())
        if (ids.includes(backend) && known.get(address) !== 'looking') watch(address);
    },
    close: () => ending.abort(),
  };
}

interface OfVerb extends Pick<Watched, 'say'> {
  readonly verb: 'dev' | 'http';
  readonly waitUpstream: number;
}

/** The edge of a verb, once there is one. */
type LaterEdge = () => { readonly edge: EdgeOfFile; readonly nameOf?: NameOf } | null;

/** The name of a stored object; elsewhere ids are names. */
export function nameIn(live: LaterEdge): NameOf {
  return (id) => live()?.nameOf?.(id) ?? id;
}

/** Watches the upstreams of an edge; an edge around one address has no backend that its user has named. */
export function upstreamsOfEdge(live: LaterEdge, { verb, waitUpstream: waitMs, say }: OfVerb): UpstreamWatch {
  const backendName = verb === 'http' ? () => null : nameIn(live);
  return watchUpstreams({ config: () => live()?.edge.config ?? null, backendName, waitMs, say });
}

/** A change of the configuration, after which new upstreams are sought. */
export function lookingAfter<Next>(
  replace: (next: Next) => Promise<void>,
  { look }: UpstreamWatch,
): (next: Next) => Promise<void> {
  return async (next) => {
    await replace(next);
    look();
  };
}

/** What requests get while an upstream is missing. */
function meanwhile(waitMs: number): string {
  if (waitMs === 0) return 'requests get 502 meanwhile (`--wait-upstream 10s` lets them wait)';
  return `requests wait for it, up to ${waitMs / 1_000} s`;
}

/** The upstreams of a configuration by their addresses, apart from agents. */
function placesOf(
  config: EdgeConfig | null,
  backendName: Watched['backendName'],
): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const { id, host, port, tunnel } of config === null ? [] : upstreamsOf(tablesOf(config).backends)) {
    if (tunnel !== undefined) continue;
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const ids = [...(places.get(address)?.ids ?? []), id];
    const names = ids.map(backendName).filter((name) => name !== null);
    const name = names.length === 0 ? address : `${listed(names)} at ${address}`;
    places.set(address, { host, port, name, ids });
  }
  return places;
}

/** Why an upstream accepts no connection; null if it does. */
function problemOf(
  { host, port }: Place,
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, lookup, timeout: CONNECT_MS });
    const end = (problem: string | null): void => {
      signal.removeEventListener('abort', stopped);
      resolve(problem);
    };
    const fail = (problem: string | null): void => {
      socket.destroy();
      end(problem);
    };
    const stopped = (): void => fail(null);
    signal.addEventListener('abort', stopped, { once: true });
    socket.once('connect', () => {
      end(null);
      // A server that greets would get a reset if its words were not read, and simple ones end at that.
      socket.resume().end();
      setTimeout(() => socket.destroy(), CLOSE_MS).unref();
    });
    socket.once('timeout', () => fail('there is no answer'));
    socket.on('error', (error: NodeJS.ErrnoException) => fail(detailText(error.code ?? error.message)));
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
