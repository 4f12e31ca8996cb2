import { ApiProblem } from '../resources/problem.ts';

const WINDOW_MS = 60_000;

/**
 * Limits requests in any 60 seconds; throws the documented error above the limit. Does nothing without a
 * limit.
 */
export function rateLimit(limit: number | undefined, nowMs: () => number): () => void {
  if (limit === undefined) return () => {};
  let times: number[] = [];
  return () => {
    const now = nowMs();
    times = times.filter((time) => time > now - WINDOW_MS);
    if (times.length >= limit) {
      throw new ApiProblem(429, 226, `More than ${limit} requests in 60 seconds; try again later.`);
    }
    times.push(now);
  };
}
