import type { Found } from './pattern.ts';

const REFERENCE = /\$(?:\$|(\w+)|\{(\w+)\})/g;

/** A replacement template with the groups of one match put in, by the rules of Go's Regexp.Expand. */
export function expand(template: string, found: Found): string {
  return template.replaceAll(REFERENCE, (whole, bare: string | undefined, braced: string | undefined) => {
    const name = bare ?? braced;
    if (name === undefined) return whole.slice(1);
    const group = /^\d+$/.test(name) ? found.groups[Number(name)] : found.named[name];
    return group?.text ?? '';
  });
}
