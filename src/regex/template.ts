/** A range of the subject, in UTF-16 offsets; `end` is exclusive. */
export interface Group {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A match: its numbered groups, with group 0 as the whole match; undefined for a group that did not take part. */
export interface Found {
  readonly groups: readonly (Group | undefined)[];
  readonly named: Readonly<Record<string, Group | undefined>>;
}

const REFERENCE = /\$(?:\$|(\w+)|\{(\w+)\})/g;

/** Expands a replacement template with the groups of one match, by the rules of Go's Regexp.Expand. */
export function expand(template: string, found: Found): string {
  return template.replaceAll(REFERENCE, (whole, bare: string | undefined, braced: string | undefined) => {
    const name = bare ?? braced;
    if (name === undefined) return whole.slice(1);
    const group = /^\d+$/.test(name) ? found.groups[Number(name)] : found.named[name];
    return group?.text ?? '';
  });
}
