import { Session } from 'node:inspector';

/** How often `work` calls each function of a file, also each time that it goes on after a pause. */
export function callsIn(file: string, work: () => void): Map<string, number> {
  const session = new Session();
  const calls = new Map<string, number>();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  work();
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error !== null) throw new Error(error.message);
    for (const { url, functions } of coverage.result) {
      if (!url.endsWith(file)) continue;
      for (const { functionName, ranges } of functions) calls.set(functionName, ranges[0]!.count);
    }
  });
  session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  return calls;
}
