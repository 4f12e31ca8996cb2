import type { TakeState } from '../edge/filter_state.ts';
import type { Pipeline } from '../engine/pipeline.ts';

/** The states of an edge that is replayed, and how each begins. */
export class ReplayedStates {
  readonly #beginnings = new Map<unknown, () => unknown>();

  readonly take: TakeState = (_route, _module, _config, initial) => this.#begun(initial);

  get isEmpty(): boolean {
    return this.#beginnings.size === 0;
  }

  /** Gives the filters of pipelines the states that they began with. */
  restart(pipelines: readonly Pipeline[]): void {
    const before = new Map(this.#beginnings);
    const next = new Map<unknown, unknown>();
    this.#beginnings.clear();
    for (const [state, initial] of before) next.set(state, this.#begun(initial));
    for (const filter of pipelines.flatMap(({ filters }) => filters))
      if (next.has(filter.state)) Object.assign(filter, { state: next.get(filter.state) });
  }

  #begun(initial: () => unknown): unknown {
    const state = initial();
    this.#beginnings.set(state, initial);
    return state;
  }
}
