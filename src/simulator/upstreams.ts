import type { FieldList } from '../http/fields.ts';
import type { Chance } from '../engine/drivers/seeded_chance.ts';

/** A scripted fault of an upstream; `half` responds and breaks off in the middle of the body. */
export type Fault = 'hang' | 'reset' | 'half' | 'refuse' | 'invalid';

/** One scripted response. */
export interface Answering {
  readonly status: number;
  readonly headers: FieldList;
  readonly body: Uint8Array;
  /** Time until the response head; a range is sampled uniformly. */
  readonly latencyMs: number | { readonly fromMs: number; readonly toMs: number };
  readonly fault: Fault | null;
}

/** A scripted upstream: a sequence of responses. */
export interface UpstreamScript {
  readonly answers: readonly Answering[];
  /** Behaviour after the last one. */
  readonly afterwards: 'last' | 'again';
  /** Responses to some requests: the first that matches answers instead. */
  readonly stubs?: readonly Stub[];
  /** Requests that are handled at once; absent for any number. */
  readonly workers?: number;
}

/** A response to the requests that match. */
export interface Stub {
  readonly answering: Answering;
  readonly matches: (request: Asked) => boolean;
  /** Probability that it answers. */
  readonly chance: number;
}

/** What stubs look at. */
interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
}

const NO_BYTES = new Uint8Array(0);
const NO_STUBS: readonly Stub[] = [];
/** The response of an upstream without a script. */
export const PLAIN_ANSWER: Answering = {
  status: 200,
  headers: [],
  body: NO_BYTES,
  latencyMs: 0,
  fault: null,
};

interface Playing {
  readonly script: UpstreamScript;
  position: number;
  /** When each busy worker is free again. */
  readonly busyUntilMs: number[];
}

/** The active scripts, by backend; for control requests by URL or URL prefix. */
export interface Upstreams {
  readonly set: (name: string, script: UpstreamScript) => void;
  /** Scripts for names that have none of their own. They are not copied, because a file may have thousands, and many cases. */
  readonly share: (scripts: ReadonlyMap<string, UpstreamScript>) => void;
  /** The next response of a backend. */
  readonly answerOf: (backend: string, asked?: Asked) => Answering;
  /** The next response to a control request; null if no script matches. */
  readonly answerAt: (url: string, method: string) => Answering | null;
  /** Milliseconds from a request until its response; where all workers are busy, it waits for one of them. */
  readonly latencyOf: (answering: Answering, name: string, nowMs: number) => number;
  /** Scripts that were used at least once. */
  readonly used: ReadonlySet<string>;
}

const NO_SCRIPTS: ReadonlyMap<string, UpstreamScript> = new Map();

/** An empty set of scripts; `chance` is the randomness for latencies. */
export function scriptedUpstreams(chance: Chance): Upstreams {
  const playing = new Map<string, Playing>();
  const used = new Set<string>();
  let shared: ReadonlyMap<string, UpstreamScript> = NO_SCRIPTS;
  let urls: readonly string[] | null = null;

  const playingOf = (name: string): Playing | undefined => {
    const known = playing.get(name);
    if (known !== undefined) return known;
    const script = shared.get(name);
    if (script === undefined) return undefined;
    const begun = { script, position: 0, busyUntilMs: [] };
    playing.set(name, begun);
    return begun;
  };
  /** The names of scripts for control requests, the longest first. */
  const urlsOf = (): readonly string[] =>
    (urls ??= [...new Set([...playing.keys(), ...shared.keys()])]
      .filter((name) => name.includes('://'))
      .sort((a, b) => b.length - a.length));

  let stubChance: Chance | undefined;
  const play = (name: string, asked?: Asked): Answering | null => {
    const found = playingOf(name);
    if (found === undefined) return null;
    used.add(name);
    const stub = asked === undefined ? undefined : stubFor(asked, found.script.stubs ?? NO_STUBS);
    if (stub !== undefined) return stub.answering;
    const answering = nextOf(found);
    found.position++;
    return answering;
  };
  const stubFor = (asked: Asked, among: readonly Stub[]): Stub | undefined =>
    among.find(
      ({ matches, chance: share }) =>
        matches(asked) && (share >= 1 || (stubChance ??= chance.split('stubs')).random() < share),
    );
  const plainLatencyOf = ({ latencyMs }: Answering): number =>
    typeof latencyMs === 'number'
      ? latencyMs
      : latencyMs.fromMs + chance.random() * (latencyMs.toMs - latencyMs.fromMs);
  return {
    set: (name, script) => {
      playing.set(name, { script, position: 0, busyUntilMs: [] });
      urls = null;
    },
    share: (scripts) => {
      shared = scripts;
      urls = null;
    },
    answerOf: (backend, asked) => play(backend, asked) ?? PLAIN_ANSWER,
    answerAt: (url, method) => {
      const name = urlsOf().find((each) => url.startsWith(each));
      const target = url.replace(/^\w+:\/\/[^/?#]*/, '') || '/';
      return name === undefined ? null : play(name, { method, target });
    },
    latencyOf: (answering, name, nowMs) => {
      const serviceMs = plainLatencyOf(answering);
      const found = playingOf(name);
      return found?.script.workers === undefined
        ? serviceMs
        : queuedMs(found, found.script.workers, serviceMs, nowMs);
    },
    used,
  };
}

function nextOf({ script, position }: Playing): Answering {
  const { answers, afterwards } = script;
  const last = answers.length - 1;
  return answers[position <= last ? position : afterwards === 'last' ? last : position % answers.length]!;
}

/** The latency of a request that waits for a worker, which it then keeps busy. */
function queuedMs({ busyUntilMs }: Playing, workers: number, serviceMs: number, nowMs: number): number {
  const busy = busyUntilMs.filter((untilMs) => untilMs > nowMs).sort((one, other) => one - other);
  const startMs = busy.length < workers ? nowMs : busy[busy.length - workers]!;
  busyUntilMs.splice(0, Infinity, ...busy, startMs + serviceMs);
  return startMs + serviceMs - nowMs;
}
