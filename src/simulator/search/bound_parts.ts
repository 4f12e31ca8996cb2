import type { EdgeConfig } from '../../edge/document/schema.ts';
import { isRefusal } from '../../tunnel/binding/members.ts';
import type { PlacedBind } from '../../tunnel/binding/endpoint_table.ts';
import { bindOf } from '../document/agent_endpoints.ts';
import type { Scenario } from '../document/scenario.ts';
import type { AgentConfig } from '../document/schema.ts';
import { SimulatedEndpoints, bindKey } from '../simulated_endpoints.ts';

type Agents = Readonly<Record<string, AgentConfig>>;

/**
 * The endpoints that agents bind, as parts of the edge: what counts for coverage besides the edge. An agent whose
 * options change is left out, because its parts have the same names each time.
 */
export function boundParts(edge: EdgeConfig, stated: readonly Agents[]): EdgeConfig[] {
  const binds = new Map<string, PlacedBind>();
  const changing = new Set<string>();
  for (const [name, config] of stated.flatMap((agents) => Object.entries(agents))) {
    const bind = config.url === undefined ? null : bindOf(config, '', () => undefined);
    if (bind === null) continue;
    const before = binds.get(name);
    if (before !== undefined && bindKey(before) !== bindKey(bind)) changing.add(name);
    binds.set(name, bind);
  }
  const shared = new SimulatedEndpoints(edge);
  const alone = Array.from(binds).flatMap(([name, bind]) => {
    if (changing.has(name) || !isRefusal(shared.bind(name, bind))) return [];
    // Agents of other cases may have its place.
    const own = new SimulatedEndpoints(edge);
    own.bind(name, bind);
    return own.parts();
  });
  return [...shared.parts(), ...alone];
}

/** All that scenarios say about agents: at each point, the members of those that are known. */
export function statedAgents(scenarios: readonly Scenario[]): Agents[] {
  return scenarios.flatMap(({ shell, cases }) =>
    cases.flatMap(({ config }) => {
      const steps = (config.timeline ?? []).map(({ agents }) => agents);
      let known: Agents = {};
      return [shell.agents, config.agents, ...steps].flatMap((changes) => {
        if (changes === undefined) return [];
        const changed = Object.entries(changes).map(
          ([name, given]) => [name, Object.assign({}, known[name], given)] as const,
        );
        return [(known = { ...known, ...Object.fromEntries(changed) })];
      });
    }),
  );
}
