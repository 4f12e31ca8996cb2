import type { Exchange } from '../../engine/exchange.ts';
import type { SharedAnswer, SharedRequest } from '../../engine/shared_question.ts';
import { type MemoryState, memoryState } from '../../shared_state/memory.ts';
import { LimitLedger, limitNames, type TakeRequest } from './limit_ledger.ts';
import type { Partition } from './partition.ts';
import type { NodesReport } from './report.ts';
import type { NodesSetting } from './setting.ts';

/** A node, as far as its state is concerned. */
interface Asking {
  /** From 1. */
  readonly number: number;
  readonly memory: MemoryState;
}

/** An answer, and the virtual time that it takes. */
export interface TimedAnswer {
  readonly given: SharedAnswer;
  readonly afterMs: number;
}

/** The state that nodes share, or have for themselves: limits, sessions and what is used once. */
export class NodeState {
  readonly #setting: NodesSetting;
  readonly #partition: Partition;
  readonly #state = memoryState();
  readonly #limits = new LimitLedger();

  constructor(setting: NodesSetting, partition: Partition) {
    this.#setting = setting;
    this.#partition = partition;
  }

  /** Answers what a node asks of the state that it shares, or has for itself. */
  answer(node: Asking, request: SharedRequest, nowMs: number): TimedAnswer {
    if (request.do === 'take') {
      const given = this.#taken(node, request, nowMs);
      this.#limits.note(request, given, nowMs);
      return { given, afterMs: 0 };
    }
    const isShared = this.#setting.sessions === 'shared';
    if (isShared && !this.#partition.areTogether(node.number, 'state'))
      return { given: this.#unavailable(), afterMs: 0 };
    // The answer to a logout waits until the other nodes know.
    if (request.do === 'publish')
      return { given: { done: true }, afterMs: isShared ? this.#setting.delayMs : 0 };
    return { given: (isShared ? this.#state : node.memory).answer(request, nowMs), afterMs: 0 };
  }

  /** Learns the names of limits from the steps of a request. */
  completed(takes: readonly string[], exchange: Exchange): void {
    if (!takes.some((id) => this.#limits.isUnnamed(id))) return;
    const names = limitNames(exchange);
    // A step without a question, such as one whose key has failed, leaves open which is which.
    if (names.length !== takes.length) return;
    for (const [index, id] of takes.entries()) this.#limits.name(id, names[index]!);
  }

  report(): NodesReport['limits'] {
    return this.#limits.report();
  }

  #taken(node: Asking, request: TakeRequest, nowMs: number): SharedAnswer {
    const { limits, count, whenUnavailable } = this.#setting;
    if (limits === 'local') return node.memory.answer(request, nowMs);
    if (limits === 'divided') {
      const capacity = partOf(request.capacity, node.number, count);
      return capacity === 0
        ? { waitMs: request.windowMs }
        : node.memory.answer({ ...request, capacity }, nowMs);
    }
    if (this.#partition.areTogether(node.number, 'state')) return this.#state.answer(request, nowMs);
    return whenUnavailable === 'local' ? node.memory.answer(request, nowMs) : this.#unavailable();
  }

  #unavailable(): SharedAnswer {
    return {
      unavailable: this.#setting.whenUnavailable,
      detail: 'the node is cut off from the shared state',
    };
  }
}

/** The part of a capacity that a node has; the parts of all nodes are the capacity. */
function partOf(capacity: number, number: number, count: number): number {
  return Math.floor(capacity / count) + (number <= capacity % count ? 1 : 0);
}
