import type { EdgeConfig } from './document/schema.ts';

/** The parts of a configuration that are kept by name. */
const MAPS = ['ip_policies', 'backends', 'tls_certificates', 'certificate_authorities'] as const;
const FAMILIES = ['https', 'tls', 'tcp'] as const;

/**
 * A configuration with further parts, each checked on its own. Names are unique over all. Unchanged members keep
 * their identity, so that they are not compiled again. `isPooled` names the cloud endpoints that are pooled.
 */
export function extended(
  base: EdgeConfig,
  parts: readonly EdgeConfig[],
  isPooled: (edge: string) => boolean = () => false,
): EdgeConfig {
  if (parts.length === 0) return base;
  const maps = MAPS.map((name) => [name, Object.assign({}, base[name], ...parts.map((part) => part[name]))]);
  const edges = FAMILIES.map((family) => {
    const own = Object.entries(base.edges[family]).filter(([name]) => !isPooled(name));
    const taken = new Set(own.flatMap(([, { hostports }]) => hostports));
    // The operator's own edges come first; an endpoint of a pool shares its host with others of it.
    const free = parts.flatMap((part) =>
      Object.entries(part.edges[family]).filter(
        ([, { hostports }]) => !hostports.some((each: string) => taken.has(each)),
      ),
    );
    return [family, { ...base.edges[family], ...Object.fromEntries(free) }];
  });
  return { ...base, ...Object.fromEntries(maps), edges: Object.fromEntries(edges) } as EdgeConfig;
}
