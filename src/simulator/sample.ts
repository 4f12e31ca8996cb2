import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Report } from '../diagnostics/report.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type Distribution, type Run, walkChance } from './chance_walk.ts';
import { carries } from '../edge/tunnels.ts';
import { type KnownAgents, checkAgentName, namesWithAgents } from './document/agents.ts';
import type { ScenarioCode } from './document/codes.ts';
import type { SampleConfig } from './document/schema.ts';
import type { Mismatch } from './result.ts';
import { checkBackendName } from './expect/names.ts';
import type { Outcome } from './expect/outcome.ts';
import { decidingStep } from '../engine/trace.ts';
import {
  type Fraction,
  ONE,
  ZERO,
  asNumber,
  compareFractions,
  fraction,
  readFraction,
  shownFraction,
} from './fraction.ts';

/** Shares of outcomes over chance, compiled. */
export interface CompiledSample {
  /** The outcome of a run, in the form of the keys of `share`. */
  readonly keyOf: (outcome: Outcome) => string;
  readonly share: ReadonlyMap<string, Fraction>;
  readonly method: 'exact' | 'empirical';
  readonly runs: number;
  readonly within: number | null;
  /** The bounds of weighted choices. */
  readonly bounds: readonly Fraction[];
  readonly pointer: string;
}

const RUNS = 10_000;
/** Allowed standard deviations of empirical shares: one run in 15,000 exceeds them by chance. */
const DEVIATIONS = 4;

/** Compiles a sample; invalid probabilities are reported. */
export function compileSample(
  config: SampleConfig,
  pointer: string,
  { edge, agents }: { readonly edge: EdgeConfig; readonly agents: KnownAgents },
  report: Report<ScenarioCode>,
): CompiledSample | null {
  const share = new Map<string, Fraction>();
  let sum = 0;
  for (const [name, given] of Object.entries(config.share)) {
    const read = readFraction(given);
    if (read === null || compareFractions(read, ONE) > 0) {
      report(
        'scenario.bad_share',
        pointerTo(`${pointer}/share`, name),
        `'${given}' is not a probability such as 0.9 or 1/3`,
      );
      return null;
    }
    sum += asNumber(read);
    share.set(name, read);
  }
  if (sum > 1 + 1e-9) {
    report('scenario.bad_share', `${pointer}/share`, 'the shares add up to more than 1');
    return null;
  }
  const by = config.by ?? 'backend';
  const names = namesWithAgents({ backends: Object.keys(edge.backends), policies: [] }, [...agents]);
  for (const name of share.keys()) {
    const at = pointerTo(`${pointer}/share`, name);
    if (by === 'backend') checkBackendName(name, at, names.backends, report, 'key');
    if (by === 'agent') checkAgentName(name, at, names.agents, report, 'key');
  }
  return {
    keyOf: KEYS[by],
    share,
    method: config.method ?? 'exact',
    runs: config.runs ?? RUNS,
    within: config.within ?? null,
    bounds: boundsOf(edge, agents),
    pointer,
  };
}

const KEYS: Readonly<Record<NonNullable<SampleConfig['by']>, CompiledSample['keyOf']>> = {
  status: (outcome) => String(outcome.simulated.response.status),
  backend: (outcome) => outcome.backend(),
  agent: (outcome) => outcome.agent(),
  code: (outcome) => decidingStep(outcome.steps()).code,
};

/** Every bound in [0, 1) at which a weighted backend of the edge, or one of several agents, changes its choice. */
function boundsOf({ backends }: EdgeConfig, agents: KnownAgents): Fraction[] {
  const bounds = new Map<string, Fraction>();
  const choices = Object.values(backends).map(({ weighted, tunnel_group: group }) =>
    group === undefined ? Object.values(weighted ?? {}) : onlineIn(group.labels, agents),
  );
  for (const weights of [...choices, ...pooledChoices(agents)]) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let end = 0;
    for (const weight of weights) {
      end += weight;
      if (total === 0) continue;
      const bound = fraction(end, total);
      bounds.set(`${bound.above}/${bound.below}`, bound);
    }
  }
  return [...bounds.values()];
}

/** Agents at one URL: each of the endpoints that they share has some of them, so every number is possible. */
function pooledChoices(agents: KnownAgents): number[][] {
  const counts = new Map<string, number>();
  for (const { url, online = true } of agents.values())
    if (url !== undefined && online) counts.set(url, (counts.get(url) ?? 0) + 1);
  return Array.from(counts.values()).flatMap((count) =>
    Array.from({ length: count - 1 }, (_, index) => Array.from({ length: index + 2 }, () => 1)),
  );
}

/** A weight of one for each agent that is online and carries these labels. */
function onlineIn(wanted: Readonly<Record<string, string>>, agents: KnownAgents): number[] {
  return Array.from(agents.values()).flatMap(({ labels = null, online = true }) =>
    online && carries(labels, wanted) ? [1] : [],
  );
}

/** The result of a sample: for the report, and unmet expectations. */
export interface Sampled {
  readonly mismatches: readonly Mismatch[];
  readonly runs: number;
  readonly shares: Readonly<Record<string, string>>;
}

/**
 * Takes the sample: `run` is one independent run with given randomness; `seeded` is the randomness of the nth
 * run.
 */
export function takeSample(
  sample: CompiledSample,
  run: Run,
  seeded: (iteration: number) => () => number,
): Sampled {
  return sample.method === 'exact' ? exact(sample, run) : empirical(sample, run, seeded);
}

function exact(sample: CompiledSample, run: Run): Sampled {
  const walked = walkChance(run, sample.bounds);
  if (walked === null) {
    const received = 'too many random outcomes to enumerate; use method: empirical';
    const mismatch = { what: 'share', expected: 'exact shares', received, pointer: sample.pointer };
    return { mismatches: [mismatch], runs: 0, shares: {} };
  }
  const mismatches = [...sample.share].flatMap(([name, expected]): Mismatch[] => {
    const received = walked.shares.get(name) ?? ZERO;
    if (compareFractions(received, expected) === 0) return [];
    const pointer = pointerTo(`${sample.pointer}/share`, name);
    return [
      {
        what: `share of ${name}`,
        expected: shownFraction(expected),
        received: shownFraction(received),
        pointer,
      },
    ];
  });
  return { mismatches, runs: walked.runs, shares: sharesOf(walked) };
}

function sharesOf({ shares }: Distribution): Record<string, string> {
  return Object.fromEntries([...shares].map(([name, share]) => [name, shownFraction(share)]));
}

function empirical(sample: CompiledSample, run: Run, seeded: (iteration: number) => () => number): Sampled {
  const counts = new Map<string, number>();
  for (let iteration = 0; iteration < sample.runs; iteration++) {
    const key = run(seeded(iteration));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const mismatches = [...sample.share].flatMap(([name, share]): Mismatch[] => {
    const expected = asNumber(share);
    const received = (counts.get(name) ?? 0) / sample.runs;
    const within = sample.within ?? DEVIATIONS * Math.sqrt((expected * (1 - expected)) / sample.runs);
    if (Math.abs(received - expected) <= within) return [];
    return [
      {
        what: `share of ${name}`,
        expected: `${expected} ± ${within.toPrecision(3)}`,
        received: String(received),
        pointer: pointerTo(`${sample.pointer}/share`, name),
      },
    ];
  });
  const shares = Object.fromEntries([...counts].map(([name, count]) => [name, String(count / sample.runs)]));
  return { mismatches, runs: sample.runs, shares };
}
