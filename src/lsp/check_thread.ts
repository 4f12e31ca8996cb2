import { parentPort } from 'node:worker_threads';
import { Checks } from './checks.ts';
import { freeMemory } from './free_memory.ts';
import type { Answer, Answers, Order, TextChange } from './messages.ts';

/** Serves checks in a thread: orders are answered one after the other, each with its `id`. */
export function serveChecks(): void {
  const checks = new Checks();
  let last: Promise<void> = Promise.resolve();
  /** Orders that have not begun. */
  let waiting = 0;
  // A text must not change while it is checked: changes wait for their turn, too.
  const inTurn = async (before: Promise<void>, message: Order | TextChange): Promise<void> => {
    await before;
    if ('text' in message) checks.setText(message.name, message.text);
    else {
      waiting--;
      send(await answerTo(message, checks));
      if (waiting === 0) freeMemory();
    }
  };
  parentPort!.on('message', (message: Order | TextChange) => {
    if ('does' in message) waiting++;
    last = inTurn(last, message);
  });
}

function send(answer: Answer): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
  parentPort!.postMessage(answer);
}

async function answerTo(order: Order, checks: Checks): Promise<Answer> {
  const { id } = order;
  try {
    return { id, result: await resultOf(order, checks) };
  } catch (error) {
    return { id, problem: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function resultOf(order: Order, checks: Checks): Promise<Answers[keyof Answers]> {
  const { name, settings } = order;
  switch (order.does) {
    case 'check':
      return checks.check(name, settings);
    case 'exact':
      return checks.exact(name, settings);
    case 'fix':
      return checks.fix(name, settings);
    case 'format':
      return checks.format(name, settings, order.lines);
    case 'run':
      return (await checks.runs()).run(name, order.index, settings);
    case 'explain':
      return (await checks.runs()).explain(name, order.index, settings);
    case 'route':
      return (await checks.runs()).route(name, order.index, settings);
    case 'coverage':
      return (await checks.runs()).coverage(name, order.scenarios, settings);
    case 'missing':
      return (await checks.runs()).missing(name, order, settings);
  }
}
