import { type Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { type FilePart, partReader } from '../replay/log_file.ts';
import { type ReplaySummary, replay } from '../replay/replay.ts';
import { type JudgeOptions, loadEdges, readerInto } from './replayed_edges.ts';
import { startThread } from './start_thread.ts';

/** Lines of a log for a thread, or where it reads them; null asks for its summary. */
type Order = { readonly lines: Uint8Array | FilePart; readonly firstLine: number } | null;
/** The report about one piece, or the summary. */
type Answer = string | ReplaySummary;

interface ThreadData {
  readonly replayOptions: JudgeOptions;
  readonly wantsReport: boolean;
}

/** Threads that judge pieces of a log in parallel. */
export interface ReplayThreads {
  /** Takes a piece; resolves when there is room for the next one. */
  readonly take: (piece: Uint8Array, firstLine: number, part: FilePart | null) => Promise<void>;
  /** Resolves with the summary of each thread, and ends the threads; until then they read the file. */
  readonly end: () => Promise<readonly ReplaySummary[]>;
  /** Ends the threads without a result: waiting ones would keep the process running. */
  readonly stop: () => void;
}

/** Maximum number of pieces queued for a thread; more would only take memory. */
const WAITING_LIMIT = 4;
/** A line is garbage once it is judged, so a larger young generation gains nothing. */
const YOUNG_MEGABYTES = 4;

interface Thread {
  readonly worker: Worker;
  /** Callbacks for the answers, which arrive in the order of the requests. */
  readonly waiting: ((answer: Answer) => void)[];
}

/**
 * Starts `jobs` threads, each with its own edges: only for edges that decide each request independently.
 * `tell` receives the report in the order of the log; with null no report is made.
 */
export function replayThreads(
  jobs: number,
  options: JudgeOptions,
  tell: ((text: string) => void) | null,
): ReplayThreads {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const data: ThreadData = { replayOptions: options, wantsReport: tell !== null };
  const threads = Array.from({ length: jobs }, () => begun(data, failed.reject));
  const inOrder = deliverInOrder(tell ?? (() => {}));
  let room = Promise.withResolvers<void>();
  let pieces = 0;
  const leastBusy = () =>
    threads.reduce((one, each) => (each.waiting.length < one.waiting.length ? each : one));
  return {
    take: async (piece, firstLine, part) => {
      const own = pieces++;
      const answered = (answer: Answer): void => {
        inOrder(own, answer as string);
        room.resolve();
      };
      if (part === null) {
        // Copied, because the buffer of a piece is used again.
        const lines = new Uint8Array(piece);
        order(leastBusy(), { lines, firstLine }, [lines.buffer], answered);
      } else order(leastBusy(), { lines: part, firstLine }, [], answered);
      while (leastBusy().waiting.length >= WAITING_LIMIT) {
        room = Promise.withResolvers();
        await Promise.race([room.promise, failed.promise]);
      }
    },
    end: () => {
      const summaries = threads.map(
        (thread) => new Promise<ReplaySummary>((resolve) => order(thread, null, [], resolve as never)),
      );
      return Promise.race([Promise.all(summaries), failed.promise]);
    },
    stop: () => {
      for (const { worker } of threads) void worker.terminate();
    },
  };
}

function begun(data: ThreadData, failed: (error: unknown) => void): Thread {
  const worker = startThread(import.meta.url, {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  const waiting: Thread['waiting'] = [];
  worker.on('message', (answer: Answer) => waiting.shift()?.(answer));
  worker.once('error', failed);
  return { worker, waiting };
}

function order(
  { worker, waiting }: Thread,
  given: Order,
  moved: readonly ArrayBuffer[],
  answered: (answer: Answer) => void,
): void {
  waiting.push(answered);
  worker.postMessage(given, moved);
}

/** Passes texts on in the order of their numbers, whatever their order of arrival. */
function deliverInOrder(hand: (text: string) => void): (number: number, text: string) => void {
  const early = new Map<number, string>();
  let next = 0;
  return (number, text) => {
    early.set(number, text);
    for (let due = early.get(next); due !== undefined; due = early.get(next)) {
      hand(due);
      early.delete(next++);
    }
  };
}

async function judge({ replayOptions, wantsReport }: ThreadData): Promise<void> {
  const port = parentPort!;
  const edges = await loadEdges(replayOptions);
  if (edges === null) throw new Error('the configuration has changed in the meantime');
  const running = replay(edges.candidate.edge, edges.current?.edge ?? null);
  let report = '';
  const tell = wantsReport ? (each: object) => void (report += `${JSON.stringify(each)}\n`) : undefined;
  const reader = readerInto(running, replayOptions.ip, tell);
  const read = partReader();
  port.on('message', (given: Order) => {
    if (given === null) {
      reader.end();
      answerWith(running.summary());
      port.close();
      return;
    }
    report = '';
    const { lines, firstLine } = given;
    reader.piece('file' in lines ? read(lines) : Buffer.from(lines.buffer), firstLine);
    answerWith(report);
  });
}

function answerWith(answer: Answer): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
  parentPort!.postMessage(answer);
}

// This file is also the thread: the same module, started with edges.
if (!isMainThread && (workerData as Partial<ThreadData> | null)?.replayOptions !== undefined)
  void judge(workerData as ThreadData);
