/** An interruptible wait. */
interface Pause {
  /** Ends the current or next wait without a time; with `always` also one with a time. */
  readonly wake: (always?: boolean) => void;
  /** Waits until woken, or for the given milliseconds. */
  readonly wait: (ms?: number) => Promise<void>;
}

const NO_WAITER = (): void => {};

export function pause(): Pause {
  let isWoken = false;
  let end = NO_WAITER;
  let isTimed = false;
  return {
    wake: (always = false) => {
      if (isTimed && !always) return;
      isWoken = true;
      end();
    },
    wait: (ms) => {
      if (isWoken && ms === undefined) {
        isWoken = false;
        return Promise.resolve();
      }
      isTimed = ms !== undefined;
      return new Promise((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(() => end(), ms);
        timer?.unref();
        end = () => {
          clearTimeout(timer);
          end = NO_WAITER;
          isTimed = false;
          isWoken = false;
          resolve();
        };
      });
    },
  };
}
