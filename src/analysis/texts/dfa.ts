import { type Dfa, SEPARATOR } from './automaton.ts';
import type { Machine } from './machine.ts';

/** Maximum number of states before an automaton is minimised. */
const STATE_LIMIT = 2_048;
/** Maximum number of transitions that are computed for one automaton. */
const STEP_LIMIT = 400_000;

/** Maximum number of automata that are kept. */
const KEPT_LIMIT = 16_384;
const automata = new Map<string, Dfa | null>();

/** An automaton that is made once; `name` identifies the texts that it accepts. */
export function keptDfa(name: string, make: () => Dfa | null): Dfa | null {
  let dfa = automata.get(name);
  if (dfa === undefined) {
    dfa = make();
    if (automata.size >= KEPT_LIMIT) automata.clear();
    automata.set(name, dfa);
  }
  return dfa;
}

/** Explores a machine and minimises it; null if it has too many states. */
export function dfaOf<State>(machine: Machine<State>, stateLimit = STATE_LIMIT): Dfa | null {
  const cuts = new Set<number>([0]);
  for (const cut of machine.cuts) if (cut <= SEPARATOR) cuts.add(cut);
  const starts = [...cuts].sort((one, other) => one - other);
  const states: State[] = [machine.start];
  const numbers = new Map<string | number, number>([[machine.keyOf(machine.start), 0]]);
  const next: number[] = [];
  for (let at = 0; at < states.length; at++) {
    for (const start of starts) {
      const state = machine.step(states[at]!, start);
      const key = machine.keyOf(state);
      let number = numbers.get(key);
      if (number === undefined) {
        number = states.push(state) - 1;
        numbers.set(key, number);
        if (states.length > stateLimit) return null;
      }
      if (next.push(number) > STEP_LIMIT) return null;
    }
  }
  return minimal(
    starts,
    next,
    states.map((state) => (machine.accepts(state) ? 1 : 0)),
  );
}

/** Merges states by refinement (Moore), then ranges that no state distinguishes, and numbers what is left. */
function minimal(starts: readonly number[], next: readonly number[], accepting: readonly number[]): Dfa {
  const width = starts.length;
  const ranges = differentRanges(next, width);
  let block = accepting;
  for (let count = 0; ;) {
    const blocks = new Map<string, number>();
    const refined = block.map((own, state) => {
      let key = String(own);
      for (const range of ranges) key += `,${block[next[state * width + range]!]}`;
      let number = blocks.get(key);
      if (number === undefined) blocks.set(key, (number = blocks.size));
      return number;
    });
    block = refined;
    if (blocks.size === count) break;
    count = blocks.size;
  }
  const member = new Map<number, number>();
  for (const [state, own] of block.entries()) if (!member.has(own)) member.set(own, state);
  const target = (own: number, range: number): number => block[next[member.get(own)! * width + range]!]!;
  const kept: number[] = [];
  for (let range = 0; range < width; range++) {
    const isSame =
      range > 0 && [...member.keys()].every((own) => target(own, range) === target(own, range - 1));
    if (!isSame) kept.push(range);
  }
  // Numbered in the order of a breadth-first walk, so that equal automata get equal tables.
  const order = [block[0]!];
  const numberOf = new Map([[order[0]!, 0]]);
  const table: number[] = [];
  for (let at = 0; at < order.length; at++) {
    for (const range of kept) {
      const to = target(order[at]!, range);
      if (!numberOf.has(to)) numberOf.set(to, order.push(to) - 1);
      table.push(numberOf.get(to)!);
    }
  }
  const accepts = Uint8Array.from(order, (own) => accepting[member.get(own)!]!);
  const cuts = kept.map((range) => starts[range]!);
  return {
    key: `${cuts.join()}|${table.join()}|${accepts.join('')}`,
    starts: cuts,
    next: Int32Array.from(table),
    accepts,
    canAccept: reaching(table, cuts.length, accepts, 1),
    canRefuse: reaching(table, cuts.length, accepts, 0),
  };
}

/** One of all ranges that lead each state to the same one: most characters are in no literal. */
function differentRanges(next: readonly number[], width: number): readonly number[] {
  const columns = new Map<string, number>();
  for (let range = 0; range < width; range++) {
    let key = '';
    for (let at = range; at < next.length; at += width) key += `,${next[at]}`;
    if (!columns.has(key)) columns.set(key, range);
  }
  return [...columns.values()];
}

function reaching(table: readonly number[], width: number, accepts: Uint8Array, wanted: 0 | 1): Uint8Array {
  const found = Uint8Array.from(accepts, (accepting) => (accepting === wanted ? 1 : 0));
  for (let changed = true; changed;) {
    changed = false;
    for (let state = 0; state < found.length; state++) {
      if (found[state] === 1) continue;
      for (let range = 0; range < width; range++) {
        if (found[table[state * width + range]!] === 0) continue;
        found[state] = 1;
        changed = true;
        break;
      }
    }
  }
  return found;
}
