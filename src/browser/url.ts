/** The part of `node:url` that the engine uses. */
import { toUnicode } from 'punycode/';

/** Pages have no modules to load from files. */
export function pathToFileURL(): never {
  throw new TypeError('modules cannot be loaded in a page');
}

/** The ASCII form of a host name (UTS #46); empty if it is invalid. */
export function domainToASCII(domain: string): string {
  try {
    // The parser of browsers converts the host; other characters would end it.
    return /[/?#@:\\\s]/.test(domain) ? '' : new URL(`http://${domain}`).hostname;
  } catch {
    return '';
  }
}

/** The Unicode form of a host name; labels that are not Punycode stay. */
export function domainToUnicode(domain: string): string {
  return domainToASCII(domain)
    .split('.')
    .map((label) => (label.startsWith('xn--') ? unicodeOf(label) : label))
    .join('.');
}

function unicodeOf(label: string): string {
  try {
    const unicode = toUnicode(label);
    return domainToASCII(unicode) === label ? unicode : label;
  } catch {
    return label;
  }
}
