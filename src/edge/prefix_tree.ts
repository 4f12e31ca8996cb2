/** Texts that share a beginning share the way from the root to it, as in a radix tree (Morrison 1968). */
interface Branch<Value> {
  /** What follows the text of the parent. */
  label: string;
  /** What was added under exactly this text, if anything. */
  value: Value | null;
  /** By the first character of their labels. */
  children: Map<number, Branch<Value>> | null;
}

/** Values by text, found by what a text begins with. A search reads a character of the text about once. */
export class PrefixTree<Value extends object> {
  readonly #root: Branch<Value> = { label: '', value: null, children: null };

  /** The value of a text, made if it has none. */
  at(text: string, make: () => Value): Value {
    const branch = branchOf(this.#root, text);
    return (branch.value ??= make());
  }

  /**
   * What `choose` makes of the value with the longest text that `text` begins with, or of a shorter one where it makes
   * null; null if it does for all.
   */
  longest<Chosen extends object>(
    text: string,
    argument: string,
    choose: (value: Value, argument: string) => Chosen | null,
  ): Chosen | null {
    let best: Chosen | null = null;
    let branch = this.#root;
    let at = 0;
    for (;;) {
      const { value, children } = branch;
      if (value !== null) best = choose(value, argument) ?? best;
      if (children === null || at >= text.length) return best;
      const next = children.get(text.charCodeAt(at));
      if (next === undefined || !text.startsWith(next.label, at)) return best;
      at += next.label.length;
      branch = next;
    }
  }
}

/** The branch of exactly this text; made, and another one divided, if need be. */
function branchOf<Value>(root: Branch<Value>, text: string): Branch<Value> {
  let branch = root;
  let rest = text;
  while (rest !== '') {
    const first = rest.charCodeAt(0);
    const next = (branch.children ??= new Map()).get(first);
    if (next === undefined) {
      const added: Branch<Value> = { label: rest, value: null, children: null };
      branch.children.set(first, added);
      return added;
    }
    const shared = sharedLength(next.label, rest);
    if (shared < next.label.length) divide(next, shared);
    rest = rest.slice(shared);
    branch = next;
  }
  return branch;
}

/** Cuts the label of a branch; what the branch had belongs to a new child. */
function divide<Value>(branch: Branch<Value>, at: number): void {
  const { label, value, children } = branch;
  const below: Branch<Value> = { label: label.slice(at), value, children };
  branch.label = label.slice(0, at);
  branch.value = null;
  branch.children = new Map([[below.label.charCodeAt(0), below]]);
}

function sharedLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}
