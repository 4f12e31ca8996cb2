const LOOK_MS = 20;
/** One look may come when this process, which moves the bytes, had no turn; that many do not. */
const LOOKS = 10;

/** Waits until a count, such as that of bytes that have moved, is at least `least` and no longer changes. */
export async function settled(count: () => number, least = 0): Promise<number> {
  for (let before = -1, unchanged = 0; ;) {
    const now = count();
    unchanged = now === before && now >= least ? unchanged + 1 : 0;
    if (unchanged === LOOKS) return now;
    before = now;
    await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
  }
}
