/**
 * Calls `late` after `ms`, unless it is stopped before; returns what stops it. Answers that have arrived while this
 * process itself was stalled are in time: a turn of the event loop reads them first.
 */
export function lateAfter(ms: number, late: () => void): () => void {
  let isStopped = false;
  const timer = setTimeout(
    () =>
      setImmediate(() => {
        if (!isStopped) late();
      }),
    ms,
  ).unref();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
