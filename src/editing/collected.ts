import type { Span } from '../diagnostics/diagnostic.ts';
import { type EditedText, type Place, type Visit, itemPlace, childrenOf, ROOT_PLACE } from './edited_text.ts';
import type { PlacedItem, YamlNode, YamlScalar } from './yaml_tree.ts';

interface Kept<Derived> {
  /** The kind of file and the place that it was derived for. */
  readonly context: string;
  /** How far the item had moved then. */
  readonly by: number;
  readonly derived: Derived;
}

/** Remembers what was derived from elements of lists, for as long as their lines stay the same. */
export class DerivedOfItems<Derived> {
  /** What was derived from an item, and how far the item has moved since; it is derived now if that is not known. */
  of(
    { item, by }: PlacedItem,
    context: string,
    derive: () => Derived,
  ): { readonly derived: Derived; readonly by: number } {
    const known = item.derived.get(this) as Kept<Derived> | undefined;
    if (known?.context === context) return { derived: known.derived, by: by - known.by };
    const derived = derive();
    item.derived.set(this, { context, by, derived } satisfies Kept<Derived>);
    return { derived, by: 0 };
  }
}

/** What the elements of a list at a place are derived for. */
export function contextOf({ root }: EditedText, { path, type }: Place): string {
  return JSON.stringify([root, type, ...path]);
}

type Collect<Found> = (add: (found: Found) => void, edited: EditedText) => Visit;

/**
 * What a visitor finds in the parts of a text, in their order. Parts that are the same as in an earlier text are not visited
 * again: what was found there is moved. So the visitor may look at a part, at its place and at what kind of file it is in, and
 * at nothing else.
 */
export function collector<Found>(
  collect: Collect<Found>,
  moved: (found: Found, by: number) => Found,
): (edited: EditedText) => readonly Found[] {
  const ofItems = new DerivedOfItems<readonly Found[]>();
  const placedNow = ({ derived, by }: ReturnType<typeof ofItems.of>): readonly Found[] =>
    by === 0 ? derived : derived.map((each) => moved(each, by));
  return (edited) => {
    const enter = (node: YamlNode | null, place: Place, key: YamlScalar | null, found: Found[]): void => {
      collect((each) => void found.push(each), edited)(place, node, key);
      if (node?.kind !== 'list' || node.placed === undefined) {
        for (const [inner, child, own] of childrenOf(edited, node, place)) enter(child, inner, own, found);
        return;
      }
      const context = contextOf(edited, place);
      for (const [index, item] of node.items.entries()) {
        const placed = node.placed[index] ?? null;
        const into: Found[] = placed === null ? found : [];
        const derive = (): readonly Found[] => {
          enter(item, itemPlace(edited, item, place), null, into);
          return into;
        };
        if (placed === null) derive();
        else found.push(...placedNow(ofItems.of(placed, context, derive)));
      }
    };
    const all: Found[] = [];
    enter(edited.tree, ROOT_PLACE, null, all);
    return all;
  };
}

export function movedSpan({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by };
}
