/** The output of `node --cpu-prof`; times in µs of the system's monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** Time of one function, alone and with what it called. */
export interface FunctionTime {
  readonly name: string;
  /** File and line from `dist` or `src` on, `node:…`, or empty for native code. */
  readonly place: string;
  selfMs: number;
  totalMs: number;
}

/** Times of all functions between two moments, longest self time first; idle time is left out. */
export function functionTimes(profile: CpuProfile, fromMicros: number, toMicros: number): FunctionTime[] {
  const self = selfMsById(profile, fromMicros, toMicros);
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const times = new Map<string, FunctionTime>();
  /** The time of a node including its callees; recursive functions are counted once. */
  const visit = (node: ProfileNode, above: ReadonlySet<FunctionTime>): number => {
    const time = timeOf(node, times);
    const selfMs = self.get(node.id) ?? 0;
    time.selfMs += selfMs;
    const path = above.has(time) ? above : new Set(above).add(time);
    const totalMs = (node.children ?? []).reduce((sum, id) => sum + visit(byId.get(id)!, path), selfMs);
    if (!above.has(time)) time.totalMs += totalMs;
    return totalMs;
  };
  if (profile.nodes[0] !== undefined) visit(profile.nodes[0], new Set());
  return [...times.values()]
    .filter(({ name, totalMs }) => totalMs > 0 && name !== '(idle)' && name !== '(root)')
    .toSorted((one, other) => other.selfMs - one.selfMs);
}

function selfMsById(
  { startTime, samples, timeDeltas }: CpuProfile,
  fromMicros: number,
  toMicros: number,
): Map<number, number> {
  const self = new Map<number, number>();
  let now = startTime;
  for (const [at, id] of samples.entries()) {
    now += timeDeltas[at]!;
    // A sample represents the time until the next one.
    if (now >= fromMicros && now < toMicros)
      self.set(id, (self.get(id) ?? 0) + (timeDeltas[at + 1] ?? 0) / 1_000);
  }
  return self;
}

function timeOf({ callFrame }: ProfileNode, times: Map<string, FunctionTime>): FunctionTime {
  const { functionName, url, lineNumber } = callFrame;
  const file = url.replace(/^file:\/\/.*\/(?=(?:dist|src|node_modules)\/)/, '');
  const place = file === '' ? '' : `${file}:${lineNumber + 1}`;
  const name = functionName === '' ? '(anonymous)' : functionName;
  const key = `${name} ${place}`;
  const known = times.get(key);
  if (known !== undefined) return known;
  const time = { name, place, selfMs: 0, totalMs: 0 };
  times.set(key, time);
  return time;
}

/** Self time by the folder that the functions are in, longest first. */
export function folderTimes(times: readonly FunctionTime[]): [folder: string, selfMs: number][] {
  const folders = new Map<string, number>();
  for (const { name, place, selfMs } of times) {
    const key = folderOf(name, place);
    folders.set(key, (folders.get(key) ?? 0) + selfMs);
  }
  return [...folders].toSorted(([, one], [, other]) => other - one);
}

/** Entries that are not functions. */
const MARKS = new Set(['(program)', '(garbage collector)']);

function folderOf(name: string, place: string): string {
  if (place === '') return MARKS.has(name) ? name : 'built into Node';
  if (place.startsWith('node:')) return 'node:';
  const [, folder] = /^(?:dist|src)\/([^/:]+)/.exec(place) ?? [];
  return folder ?? place.slice(0, place.indexOf(':'));
}
