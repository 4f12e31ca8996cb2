import { type Diagram, type Truth, DiagramTooLarge } from './diagram.ts';
import type { Analysis } from './model.ts';

/** How processing of a request ends. */
type End = 'forwarded' | 'answered' | 'denied' | 'refused';

/** What happens to all requests of a class: equal outcomes look alike to clients and to upstreams. */
export interface Outcome {
  readonly end: End;
  /** The module or action that ends it, or the backend. */
  readonly by: string;
  /** What happens on the way, in order; each text identifies an effect with all its parameters. */
  readonly effects: readonly Effect[];
  /** Distinguishes ends by the same module or action, such as the parameters of a response. */
  readonly detail: string;
}

/**
 * Whether the requests here have fulfilled what a module or an action asks: `passed`; it `exempted` them; it only
 * `reports`, and stops none; or it comes `later` than the upstream.
 */
export type Passage = 'passed' | 'exempted' | 'reports' | 'later';

export interface Effect {
  /** Type of the module or action. */
  readonly type: string;
  readonly key: string;
  /** Whether it only edits the request to the upstream, which those who are refused do not notice. */
  readonly isUpstreamOnly: boolean;
  readonly isLogin: boolean;
  readonly passage: Passage;
  /** Whether it can fail, which stops the request. */
  readonly mayFail: boolean;
  /** Names of the backends that it may send the request to. */
  readonly backends: readonly string[];
}

/** A login, by a gate whose own paths are not analysed. */
export const SOME_LOGIN: Effect = {
  type: 'login',
  key: 'login',
  isUpstreamOnly: false,
  isLogin: true,
  passage: 'passed',
  mayFail: true,
  backends: [],
};

/** A class of requests on its way through the filters of a route. */
export interface Way {
  readonly effects: readonly Effect[];
  /** For each changed part of the exchange, a name of the effects that changed it. */
  readonly changed: Readonly<Record<string, string>>;
  /** Set once the request was answered, and only its response is still to be edited. */
  readonly answered: Outcome | null;
}

/** The requests that are on a way, as a diagram of true and false. */
export interface Travelling {
  readonly way: Way;
  readonly reach: Diagram<Truth>;
}

export const AT_START: Way = {
  effects: [],
  changed: {},
  answered: null,
};

/**
 * More different ways through one route are not followed. The limit protects the time: differences of 256 ways whose conditions
 * are about one path take 45 s.
 */
const WAY_LIMIT = 512;
const TOO_MANY_WAYS = `there are more than ${WAY_LIMIT} ways through this route, and each rule with effects of its own can double them; join rules, or give them a route of their own`;

/** The ways through a route up to some point, and the outcomes of those that have ended. */
export class Ways {
  readonly #analysis: Analysis;
  #travelling = new Map<string, Travelling>();
  readonly #parked: Travelling[] = [];
  readonly ended: { readonly outcome: Outcome; readonly reach: Diagram<Truth> }[] = [];

  constructor(analysis: Analysis, start: readonly Travelling[]) {
    this.#analysis = analysis;
    for (const each of start) this.add(each.way, each.reach);
  }

  get travelling(): readonly Travelling[] {
    return [...this.#travelling.values()];
  }

  /** Adds requests to a way. */
  add(way: Way, reach: Diagram<Truth>): void {
    const { diagrams } = this.#analysis;
    if (reach === diagrams.false) return;
    const { effects, changed, answered } = way;
    const key = `${effects.map((effect) => effect.key).join()} ${changesOf(changed)} ${answered === null ? '' : outcomeKey(answered)}`;
    const known = this.#travelling.get(key);
    this.#travelling.set(key, { way, reach: known === undefined ? reach : diagrams.or(known.reach, reach) });
    if (this.#travelling.size > WAY_LIMIT) throw new DiagramTooLarge(TOO_MANY_WAYS);
  }

  /** Keeps a way out of the rest of this phase. */
  park(way: Way, reach: Diagram<Truth>): void {
    this.#parked.push({ way, reach });
  }

  /** Lets parked ways continue. */
  unpark(): void {
    for (const { way, reach } of this.#parked.splice(0)) this.add(way, reach);
  }

  end(outcome: Outcome, reach: Diagram<Truth>): void {
    if (reach !== this.#analysis.diagrams.false) this.ended.push({ outcome, reach });
  }

  /** Replaces the ways by those that `follow` adds. */
  advance(follow: (each: Travelling) => void): void {
    const before = this.travelling;
    this.#travelling = new Map();
    for (const each of before) follow(each);
  }
}

/** All changes of a way, as a text. */
export function changesOf(changed: Way['changed'], without?: string): string {
  const parts = Object.keys(changed).filter((part) => part !== without);
  return parts.length === 0
    ? ''
    : parts
        .sort()
        .map((part) => `${part} ${changed[part]!}`)
        .join();
}

/** Equal keys are equal outcomes. */
export function outcomeKey({ end, by, effects, detail }: Outcome): string {
  return `${end} ${by} ${detail} [${effects.map((effect) => effect.key).join()}]`;
}

/** A way with one more effect; `parts` are what it changes for later expressions. */
export function withEffect(way: Way, effect: Effect, parts: readonly string[], analysis: Analysis): Way {
  const changed = { ...way.changed };
  for (const part of parts) changed[part] = analysis.nameOf(`${changed[part] ?? ''} then ${effect.key}`);
  return { ...way, effects: [...way.effects, effect], changed };
}

/**
 * The end of a request that gets a response of the edge itself. Edits of the
 * request to the upstream have no effect before it was sent.
 */
export function refusedAt(way: Way, phase: 'request' | 'response', by: string, detail: string): Outcome {
  const { effects } = way;
  const seen = phase === 'response' ? effects : effects.filter((effect) => !effect.isUpstreamOnly);
  return {
    end: 'denied',
    by,
    detail: way.answered === null ? detail : `${detail} after ${outcomeKey(way.answered)}`,
    effects: seen,
  };
}
