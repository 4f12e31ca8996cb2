import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Report } from '../diagnostics/report.ts';
import type { Chance } from '../engine/drivers/seeded_chance.ts';
import type { ScenarioCode } from './document/codes.ts';
import { durationMs } from './document/durations.ts';
import type { ArrivalsConfig } from './document/schema.ts';
import type { PreparedRequest } from './prepared_request.ts';
import { type RateCurve, rateCurve } from './rate_curve.ts';
import type { SimulatedWorld } from './simulator.ts';

/** The requests of a log, with their times in ms since the first one, in order. */
export type LoggedArrivals = readonly { readonly atMs: number; readonly request: PreparedRequest }[];

/** Arriving requests, prepared; times in ms since the start. */
export type Arrivals =
  | {
      readonly by: 'rate';
      readonly request: PreparedRequest;
      readonly curve: RateCurve;
      readonly model: 'poisson' | 'constant';
      readonly fromMs: number;
      readonly untilMs: number;
    }
  | { readonly by: 'log'; readonly arrivals: LoggedArrivals; readonly untilMs: number };

type RatePoint = Exclude<NonNullable<ArrivalsConfig['rate']>, number>[number];

/** Compiles the times of arrivals; null if they are invalid, which is reported. */
export function compileArrivals(
  config: ArrivalsConfig,
  request: PreparedRequest,
  pointer: string,
  setting: {
    readonly wholeMs: number;
    readonly logs: ReadonlyMap<string, LoggedArrivals>;
    readonly report: Report<ScenarioCode>;
  },
): Arrivals | null {
  const { wholeMs, logs, report } = setting;
  const { rate, log, speed = 1 } = config;
  const fromMs = config.from === undefined ? 0 : durationMs(config.from);
  const untilMs = config.until === undefined ? wholeMs : Math.min(wholeMs, durationMs(config.until));
  if ((rate === undefined) === (log === undefined)) {
    report('scenario.bad_arrivals', pointer, 'arrivals have either a `rate` or a `log`');
    return null;
  }
  if (log !== undefined) {
    for (const key of ['model'] as const) {
      if (config[key] === undefined) continue;
      report('scenario.bad_arrivals', `${pointer}/${key}`, `a log has no \`${key}\`: its times are used`);
      return null;
    }
    const own = config.request === undefined;
    const arrivals = (logs.get(log) ?? []).map((each) => ({
      atMs: fromMs + each.atMs / speed,
      request: own ? each.request : request,
    }));
    return { by: 'log', arrivals, untilMs };
  }
  if (config.speed !== undefined) {
    report('scenario.bad_arrivals', `${pointer}/speed`, '`speed` is for arrivals from a log');
    return null;
  }
  const points = typeof rate === 'number' ? [{ at: '0s', rate }] : rate!;
  const found = points.map(({ at, rate: own, ramp }: RatePoint) => ({
    atMs: durationMs(at),
    rate: own,
    ramp,
  }));
  for (const [index, { atMs }] of found.entries()) {
    if (index === 0 || atMs >= found[index - 1]!.atMs) continue;
    const at = `${pointerTo(`${pointer}/rate`, index)}/at`;
    report('scenario.bad_arrivals', at, 'the points of a rate are in the order of their times');
    return null;
  }
  return { by: 'rate', request, curve: rateCurve(found), model: config.model ?? 'poisson', fromMs, untilMs };
}

/** Requests arrive independently of earlier responses: each schedules the next one. */
export function scheduleArrivals(
  world: SimulatedWorld,
  arrivals: Arrivals,
  { random }: Chance,
  startMs: number,
): void {
  if (arrivals.by === 'log') return scheduleLog(world, arrivals.arrivals, arrivals.untilMs, startMs);
  const { curve, model, request, fromMs, untilMs } = arrivals;
  const amount = () => (model === 'constant' ? 1 : -Math.log(1 - random()));
  const arrive = (atMs: number): void => {
    // Infinite, if the rate stays 0.
    if (!(atMs < untilMs)) return;
    world.clock.schedule(startMs + atMs, () => {
      arrive(curve.after(atMs, amount()));
      world.begin(request);
    });
  };
  arrive(curve.after(fromMs, model === 'constant' ? 0 : amount()));
}

function scheduleLog(
  world: SimulatedWorld,
  arrivals: LoggedArrivals,
  untilMs: number,
  startMs: number,
): void {
  const arrive = (index: number): void => {
    const next = arrivals[index];
    if (next === undefined || next.atMs >= untilMs) return;
    world.clock.schedule(startMs + next.atMs, () => {
      arrive(index + 1);
      world.begin(next.request);
    });
  };
  arrive(0);
}
