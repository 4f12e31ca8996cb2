/**
 * Computes a value for a text, and shares it with equal texts that come soon after: the last `count` values that were
 * computed are kept.
 */
export function recentValues<Made>(make: (text: string) => Made, count: number): (text: string) => Made {
  // Values are in lists that are overwritten: a table of them that was dropped would keep them until the old space of
  // the heap is collected.
  const places = new Map<string, number>();
  const texts: string[] = [];
  const values: Made[] = [];
  let next = 0;
  return (text) => {
    const place = places.get(text);
    if (place !== undefined) return values[place]!;
    const made = make(text);
    if (texts.length === count) places.delete(texts[next]!);
    texts[next] = text;
    values[next] = made;
    places.set(text, next);
    next = (next + 1) % count;
    return made;
  };
}
