/** The wait for a response head. It counts only while it is the upstream's turn, not while the client is awaited. */
export interface HeadWait {
  begin(): void;
  suspend(): void;
  /** Ends it for good. */
  over(): void;
}

/** Makes a wait that calls `expired` when a turn of the upstream takes longer than `headMs`. */
export function createHeadWait(headMs: number, expired: () => void): HeadWait {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  return {
    begin() {
      clearTimeout(timer);
      if (!isOver) timer = setTimeout(expired, headMs);
    },
    suspend: () => clearTimeout(timer),
    over() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
