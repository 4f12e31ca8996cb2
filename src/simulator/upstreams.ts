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
}

const NO_BYTES = new Uint8Array(0);
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
}

/** The active scripts, by backend; for control requests by URL or URL prefix. */
export interface Upstreams {
  readonly set: (name: string, script: UpstreamScript) => void;
  /** The next response of a backend. */
  readonly answerOf: (backend: string) => Answering;
  /** The next response to a control request; null if no script matches. */
  readonly answerAt: (url: string) => Answering | null;
  readonly latencyOf: (answering: Answering) => number;
  /** Scripts that were used at least once. */
  readonly used: ReadonlySet<string>;
}

/** An empty set of scripts; `chance` is the randomness for latencies. */
export function scriptedUpstreams(chance: Chance): Upstreams {
  const playing = new Map<string, Playing>();
  const used = new Set<string>();
  let urls: string[] = [];

  const next = (name: string, { script, position }: Playing): Answering => {
    if (position === 0) used.add(name);
    const { answers, afterwards } = script;
    const last = answers.length - 1;
    return answers[position <= last ? position : afterwards === 'last' ? last : position % answers.length]!;
  };
  const play = (name: string): Answering | null => {
    const found = playing.get(name);
    if (found === undefined) return null;
    const answering = next(name, found);
    found.position++;
    return answering;
  };
  return {
    set: (name, script) => {
      playing.set(name, { script, position: 0 });
      if (name.includes('://')) urls = [...new Set([...urls, name])].sort((a, b) => b.length - a.length);
    },
    answerOf: (backend) => play(backend) ?? PLAIN_ANSWER,
    answerAt: (url) => {
      const name = urls.find((each) => url.startsWith(each));
      return name === undefined ? null : play(name);
    },
    latencyOf: ({ latencyMs }) =>
      typeof latencyMs === 'number'
        ? latencyMs
        : latencyMs.fromMs + chance.random() * (latencyMs.toMs - latencyMs.fromMs),
    used,
  };
}
