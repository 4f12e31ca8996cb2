/** A wait that something else may end. */
export interface Pause {
  /** Ends a wait without a time, the present one or the next; `always` ends any. */
  readonly wake: (always?: boolean) => void;
  /** Waits until woken, or for so many milliseconds whatever comes. */
  readonly wait: (ms?: number) => Promise<void>;
}

const NOBODY_WAITS = (): void => {};

export function pause(): Pause {
  let isWoken = false;
  let end = NOBODY_WAITS;
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
          end = NOBODY_WAITS;
          isTimed = false;
          isWoken = false;
          resolve();
        };
      });
    },
  };
}
