/**
 * Calls `late` after `ms`, unless the function that it returns is called before. Timers run before sockets are read: after a
 * stall of this process, an answer that has already arrived would be taken for late, so a turn of the event loop reads it first.
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
