import { lastKey, listed as listedUpTo } from '../../diagnostics/message_text.ts';

/** Names on one line: actions have more fields than maps of other files. */
export function listed(names: readonly string[]): string {
  return listedUpTo(names, 30);
}

/** A field by its path below `config`, in the usual notation: `tokens[0].name`. */
export function fieldName(pointer: string): string {
  const marker = '/config';
  const from = pointer.lastIndexOf(`${marker}/`);
  if (from === -1) return lastKey(pointer) === 'config' ? 'config' : lastKey(pointer);
  const tokens = pointer.slice(from + marker.length + 1).split('/');
  return tokens
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((token, index) => (/^\d+$/.test(token) ? `[${token}]` : `${index > 0 ? '.' : ''}${token}`))
    .join('');
}
