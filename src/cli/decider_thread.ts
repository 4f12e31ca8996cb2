import { type MessagePort, type Worker, parentPort } from 'node:worker_threads';
import { FileError } from '../project_files/load_config.ts';
import type { Decider } from '../inspector/decide/decider.ts';

/** The questions of a decider, without those that this side answers. */
type Questions = Pick<Decider, 'draft' | 'coverage'>;
type Name = keyof Questions;
type Asked = {
  readonly [N in Name]: { readonly name: N; readonly given: Parameters<Questions[N]>[0] };
}[Name];

type Answer =
  | { readonly value: Awaited<ReturnType<Questions[Name]>> }
  /** A sentence for the user, or a bug of ours. */
  | { readonly refused: string }
  | { readonly failed: string };

/** How long a question may take, and a thread without questions stays. */
const LIMITS = { questionMs: 15_000, idleMs: 300_000 };

/** A decider in a thread, which starts with the first question. A thread that takes too long is replaced. */
export function threadDecider(start: () => Worker, { questionMs, idleMs } = LIMITS): Decider {
  let worker: Worker | null = null;
  let isNew = true;
  let timer: NodeJS.Timeout | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const end = async (): Promise<void> => {
    const ended = worker;
    worker = null;
    isNew = true;
    if (timer !== null) clearTimeout(timer);
    await ended?.terminate();
  };
  const limited = (ms: number, over: () => void): void => {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      void end();
      over();
    }, ms).unref();
  };
  const ask = async (asked: Asked): Promise<unknown> => {
    const asking = (worker ??= start());
    // The process ends without it.
    asking.unref();
    isNew = false;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const failed = (error: unknown): void => {
      if (worker === asking) void end();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const left = (): void => failed(new Error('the thread that decides has ended'));
    asking.once('message', resolve).once('error', failed).once('exit', left);
    limited(questionMs, () =>
      reject(new FileError(`this took more than ${questionMs / 1_000} s, and was stopped`)),
    );
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
    asking.postMessage(asked);
    try {
      const answer = await promise;
      limited(idleMs, () => undefined);
      if ('refused' in answer) throw new FileError(answer.refused);
      if ('failed' in answer) throw new Error(answer.failed);
      return answer.value;
    } finally {
      asking.off('message', resolve).off('error', failed).off('exit', left);
    }
  };
  /** One question after the other. */
  const inTurn = (asked: Asked): Promise<never> => {
    const answered = last.then(() => ask(asked));
    last = answered.catch(() => undefined);
    return answered as Promise<never>;
  };
  return {
    draft: (given) => inTurn({ name: 'draft', given }),
    coverage: (given) => inTurn({ name: 'coverage', given }),
    remembers: () => !isNew,
    close: end,
  };
}

/** Answers the questions that this thread is asked. */
export function serveDecider(decider: Decider, port: MessagePort = parentPort!): void {
  port.on('message', (asked: Asked) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
    void answerOf(asked, decider).then((answer) => port.postMessage(answer));
  });
}

async function answerOf(asked: Asked, decider: Decider): Promise<Answer> {
  try {
    return {
      value: await (asked.name === 'draft' ? decider.draft(asked.given) : decider.coverage(asked.given)),
    };
  } catch (error) {
    if (error instanceof FileError) return { refused: error.message };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
