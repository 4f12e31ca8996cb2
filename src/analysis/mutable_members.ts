import type { ActionFacts, ModuleFacts } from '../filters/facts.ts';
import { ACTION_FACTS, LEGACY_TYPES, MODULE_FACTS } from '../filters/table.ts';

/** The filter whose config a value is in. */
export interface OwnConfig {
  readonly facts: ModuleFacts<never> | ActionFacts<never>;
  /** JSON pointer of the config. */
  readonly pointer: string;
}

/** Places of modules below their edge or route, and of actions below their rule. */
const HAS_MODULES = /^\/edges\/\w+\/[^/]+(?:\/routes\/\d+)?$/;
const IS_ACTION = /\/actions\/\d+$/;

/** The filter whose config a member of a map is; null for all other members. */
export function ownConfig(map: object, pointer: string, name: string, member: string): OwnConfig | null {
  const facts = HAS_MODULES.test(pointer)
    ? MODULE_FACTS.get(name)
    : IS_ACTION.test(pointer) && name === 'config'
      ? actionFacts(map)
      : undefined;
  return facts === undefined ? null : { facts, pointer: member };
}

function actionFacts(action: { readonly type?: unknown }): ActionFacts<never> | undefined {
  const type = String(action.type);
  return ACTION_FACTS.get(LEGACY_TYPES.get(type) ?? type);
}

/**
 * What a value of a config is, by the facts of its filter: the name of something in the file, the key by which a limit
 * counts, or something that stays as it is; null for what is changed by its type. Lists are what their elements are.
 */
export type Role = 'backend' | 'ip_policy' | 'limit_key' | 'fixed';

export function roleAt(own: OwnConfig | null, pointer: string): Role | null {
  if (own === null) return null;
  const { facts } = own;
  // Whatever its config, a request that reaches the action is answered in the same way.
  if ('runs' in facts && facts.runs === 'never') return 'fixed';
  const keys = withoutElement(pointer.slice(own.pointer.length)).split('/');
  const isAt = (at: string): boolean => {
    const parts = withoutElement(at).split('/');
    return parts.length === keys.length && parts.every((part, index) => part === '*' || part === keys[index]);
  };
  const kind = facts.references?.find(({ at }) => isAt(at))?.kind;
  if (kind !== undefined) return kind === 'certificate_authority' ? 'fixed' : kind;
  if ('countsBy' in facts && facts.compares?.some(isAt) === true) return 'limit_key';
  return facts.unseen?.some(isAt) === true ? 'fixed' : null;
}

/** The pointer of a list for that of an element. */
function withoutElement(pointer: string): string {
  return pointer.replace(/\/(?:\d+|\*)$/, '');
}
