import {
  type Arrivals,
  constantArrivals,
  poissonArrivals,
  type LoadResult,
  runLoad,
} from '../benchmark/load/run.ts';
import { type LoadReport, loadText, sweepText } from '../benchmark/load/report.ts';
import { sweep } from '../benchmark/load/sweep.ts';
import { type LoadRequest, isLoopback, openTarget } from '../benchmark/load/target.ts';
import type { Measured, Threshold } from '../benchmark/thresholds.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import { FileError } from '../project_files/load_config.ts';
import { stderr, stdout } from './output.ts';

/** Options of `edgeproof bench --http`. Times in ms. */
export interface HttpBenchOptions {
  readonly http: string;
  readonly rate: number;
  readonly arrivals: 'constant' | 'poisson';
  readonly http2?: boolean;
  readonly connections: number;
  readonly duration: number;
  readonly warmUp: number;
  readonly timeout: number;
  readonly method: string;
  readonly header: readonly string[];
  readonly body?: string;
  readonly sweep?: number;
  readonly insecure?: boolean;
  readonly allowRemote?: boolean;
  readonly seed: string;
  readonly threshold: readonly Threshold[];
  readonly reporter: readonly { readonly name: string; readonly path: string | null }[];
}

/** The highest rate that a sweep tries, in requests per second. */
const HIGHEST_RATE = 1_000_000;

/** Sends load to a URL and reports the result. Throws FileError for options that cannot be used. */
export async function benchHttp(options: HttpBenchOptions): Promise<number> {
  refuseOthers(options);
  const url = urlOf(options);
  const request: LoadRequest = {
    url,
    method: options.method,
    headers: headersOf(options.header),
    body: options.body ?? null,
  };
  const runAt = async (rate: number): Promise<LoadResult> => {
    const target = openTarget(request, {
      http2: options.http2 === true,
      connections: options.connections,
      timeoutMs: options.timeout,
      insecure: options.insecure === true,
    });
    try {
      return await runLoad(target, arrivalsOf(options, rate), {
        durationMs: options.duration,
        warmUpMs: options.warmUp,
        patienceMs: options.timeout,
      });
    } finally {
      await target.close();
    }
  };
  if (options.sweep !== undefined) {
    const found = await sweep(runAt, { from: options.rate, to: HIGHEST_RATE, limitNs: options.sweep * 1e6 });
    report(options, found, () => sweepText(url.href, found));
    return found.knee === 0 ? EXIT.runtime : EXIT.ok;
  }
  const { rate, arrivals } = options;
  const result = await runAt(rate);
  const load: LoadReport = {
    url: url.href,
    rate,
    arrivals,
    protocol: options.http2 === true ? 'HTTP/2' : 'HTTP/1.1',
    result,
  };
  report(options, load, () => loadText(load));
  if (result.completed === 0) return EXIT.runtime;
  const measured = { latency: result.latency, opsPerSecond: result.perSecond };
  const missed = options.threshold.filter(({ holds }) => holds(measured) === false);
  for (const { text, found } of missed) stderr.write(`limit ${text} missed: measured ${found(measured)}\n`);
  return missed.length > 0 ? EXIT.gateMissed : EXIT.ok;
}

/** Refuses options that only apply to decisions, before any load is sent. */
function refuseOthers({ reporter, threshold, sweep: limit }: HttpBenchOptions): void {
  const other = reporter.find(({ name }) => name !== 'pretty' && name !== 'json');
  if (other !== undefined)
    throw new FileError(`--http has only the reporters pretty and json, not '${other.name}'`);
  const [first] = threshold;
  if (limit !== undefined && first !== undefined)
    throw new FileError('--sweep searches for a limit itself; use --threshold with a single rate only');
  const none = threshold.find(({ holds }) => holds(ANY_LOAD) === null);
  if (none !== undefined)
    throw new FileError(`'${none.text}' is not measured with --http; use ops, or p50 to max`);
}

/** The only figures that exist for load. */
const ANY_LOAD: Measured = {
  opsPerSecond: 0,
  latency: { min: 0, max: 0, p50: 0, p90: 0, p99: 0, p999: 0 },
};

function report({ reporter }: HttpBenchOptions, data: unknown, pretty: () => string): void {
  const isShown = reporter.some(({ path }) => path === null);
  for (const { name, path } of isShown ? reporter : [{ name: 'pretty', path: null }, ...reporter]) {
    const text = name === 'json' ? `${JSON.stringify(data, null, 2)}\n` : pretty();
    if (path === null) stdout.write(text);
    else writeText(path, text);
  }
}

function urlOf({ http, allowRemote }: HttpBenchOptions): URL {
  if (!URL.canParse(http)) throw new FileError(`'${http}' is not a URL such as http://127.0.0.1:8080/`);
  const url = new URL(http);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FileError(`'${http}' is not an http or https URL`);
  if (!isLoopback(url) && allowRemote !== true) {
    throw new FileError(
      `${url.host} is not this machine; sending load to it needs its owner's consent. Add --allow-remote if you have it`,
    );
  }
  return url;
}

function arrivalsOf({ arrivals, seed }: HttpBenchOptions, rate: number): Arrivals {
  return arrivals === 'constant' ? constantArrivals(rate) : poissonArrivals(rate, seededChance(seed).random);
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new FileError(`'${line}' is not a header such as 'name: value'`);
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
