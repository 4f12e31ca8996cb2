import type { PortProblem, StreamListeners } from './stream_listeners.ts';

/** How soon an unavailable port is tried again. */
const TAKEN_RETRY_MS = 1_000;

/**
 * Opens the ports that edges want: on request, and again while some are unavailable. Reports each new problem
 * once.
 */
export function portRetries(
  streams: StreamListeners | null,
  say: (text: string) => void,
  settled: () => void,
) {
  let tried: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let said = new Set<string>();
  const tell = (problems: readonly PortProblem[]): void => {
    settled();
    for (const { problem } of problems) if (!said.has(problem)) say(problem);
    said = new Set(problems.map(({ problem }) => problem));
    clearTimeout(timer);
    if (problems.some(({ isTaken }) => isTaken)) timer = setTimeout(() => void now(), TAKEN_RETRY_MS).unref();
  };
  // Serialised: two overlapping runs would both open the same port.
  const now = (): Promise<void> =>
    (tried = tried
      .then(async () => tell((await streams?.refresh()) ?? []))
      .catch((error: unknown) => say(`ports are unchanged: ${String(error)}`)));
  tell(streams?.problems() ?? []);
  return { now, end: () => clearTimeout(timer) };
}
