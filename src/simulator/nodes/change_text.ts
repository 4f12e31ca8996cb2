import type { NodesChange } from './setting.ts';

/** What happens to nodes, as a short text. */
export function nodesChangeText(change: NodesChange): string {
  switch (change.does) {
    case 'cut':
      return `cut: ${change.groups.map((group) => group.join(', ')).join(' | ')}`;
    case 'join':
      return 'join';
    case 'configure':
      return `${change.name} on node ${change.on}`;
    case 'revoke':
      return `${change.identity.key} revoked on node ${change.on}`;
  }
}
