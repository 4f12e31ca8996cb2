import type { FieldList } from '../http/fields.ts';
import type { Chance } from './chance.ts';

/** What a scripted upstream does instead of answering; `half` answers and breaks off in the middle of the body. */
export type Fault = 'hang' | 'reset' | 'half' | 'refuse' | 'invalid';

/** One way to answer. */
export interface Answering {
  readonly status: number;
  readonly headers: FieldList;
  readonly body: Uint8Array;
  /** Time until the head of the response is there; a range is drawn from uniformly. */
  readonly latencyMs: number | { readonly fromMs: number; readonly toMs: number };
  readonly fault: Fault | null;
}

/** A scripted upstream: one answer after the other. */
export interface UpstreamScript {
  readonly answers: readonly Answering[];
  /** What comes after the last one. */
  readonly afterwards: 'last' | 'again';
}

const NO_BYTES = new Uint8Array(0);
/** What an upstream answers that no script speaks of. */
export const PLAIN_ANSWER: Answering = {
  status: 200,
  headers: [],
  body: NO_BYTES,
  latencyMs: 0,
  fault: null,
};

interface Playing {
  readonly script: UpstreamScript;
  turn: number;
}

/** The scripts in force, by backend; for control requests by the URL or its beginning. */
export interface Upstreams {
  readonly set: (name: string, script: UpstreamScript) => void;
  /** The next answer of a backend. */
  readonly answerOf: (backend: string) => Answering;
  /** The next answer to a control request; null when no script is for it. */
  readonly answerAt: (url: string) => Answering | null;
  readonly latencyOf: (answering: Answering) => number;
  /** Scripts that were asked at least once. */
  readonly used: ReadonlySet<string>;
}

/** A fresh set of scripts; `chance` is what latencies are drawn from. */
export function scriptedUpstreams(chance: Chance): Upstreams {
  const playing = new Map<string, Playing>();
  const used = new Set<string>();
  let urls: string[] = [];

  const next = (name: string, { script, turn }: Playing): Answering => {
    if (turn === 0) used.add(name);
    const { answers, afterwards } = script;
    const last = answers.length - 1;
    return answers[turn <= last ? turn : afterwards === 'last' ? last : turn % answers.length]!;
  };
  const play = (name: string): Answering | null => {
    const found = playing.get(name);
    if (found === undefined) return null;
    const answering = next(name, found);
    found.turn++;
    return answering;
  };
  return {
    set: (name, script) => {
      playing.set(name, { script, turn: 0 });
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
