import type { ActionFacts } from './facts.ts';
import type { Exempt } from './fact_values.ts';

/** Whether an action with this config keeps requests from the upstream. */
export function isGuard({ guards = false }: ActionFacts<never>, config: unknown): boolean {
  return typeof guards === 'function' ? guards(config as never) : guards;
}

/**
 * Whether requests that fail an action with this config are stopped. With `enforce: false` the result is only recorded,
 * with `on_error: continue` an error is, and what is not executed decides nothing: such an action is not a gate.
 */
export function isEnforced({ runs }: Pick<ActionFacts<never>, 'runs'>, config: object): boolean {
  const { enforce, on_error: onError } = config as { readonly enforce?: boolean; readonly on_error?: string };
  return enforce !== false && onError !== 'continue' && runs !== 'never';
}

/** The requests that a filter with this config exempts; null without any. */
export function exemptOf(
  { exempts }: { readonly exempts?: { readonly which: (config: never) => Exempt | null } },
  config: object,
): Exempt | null {
  return exempts?.which(config as never) ?? null;
}
