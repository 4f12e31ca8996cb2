/**
 * Facts about addresses: place, network, reputation. A local edge has no such database, so facts come from a
 * table in the configuration or the scenario, or from a database file.
 *
 * ```yaml
 * facts:
 *   - cidr: 203.0.113.0/24
 *     geo: { location: { country_code: DE, city: Jena } }
 *     as: { number: 64500, organization: Example Net }
 *     categories: [com.example.crawler]
 *   - variables: { conn.server_region: eu, conn.geo.city: Jena }
 * ```
 *
 * Of the ranges that contain an address only the most specific one applies. `variables` sets variables by name
 * and takes precedence over ranges.
 */
import type { Address } from '../../net/address.ts';

export interface PlaceFacts {
  readonly city?: string;
  readonly continent?: string;
  readonly country?: string;
  /** ISO 3166-1 alpha-2. */
  readonly country_code?: string;
  readonly is_eu?: boolean;
  /** Decimal degrees, as text. */
  readonly latitude?: string;
  readonly longitude?: string;
  readonly metro_code?: string;
  readonly postal_code?: string;
  /** Kilometres, as text. */
  readonly radius?: string;
  readonly subdivision?: string;
  /** Name in the time zone database, such as `Europe/Berlin`. */
  readonly timezone?: string;
}

export interface AddressFacts {
  /** Dotted names, including every prefix of each. */
  readonly categories?: readonly string[];
  readonly is_on_blocklist?: boolean;
  readonly is_tor_node?: boolean;
  readonly as?: { readonly number?: number; readonly organization?: string };
  readonly geo?: { readonly location?: PlaceFacts; readonly registered_location?: PlaceFacts };
}

/** Facts by address, from a table or a database. */
export interface GeoipDatabase {
  readonly find: (address: Address) => AddressFacts | undefined;
}

export interface PodFacts {
  readonly id?: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly error_code?: string;
    readonly error_message?: string;
  };
}

/** Facts about a connection that do not depend on an address. */
interface ConnectionFacts {
  readonly server_region?: string;
  readonly ja4_fingerprint?: string;
  readonly pod?: PodFacts;
}

export interface Facts {
  readonly client: GeoipDatabase['find'];
  readonly server: GeoipDatabase['find'];
  readonly connection: ConnectionFacts;
}

export const NOTHING_KNOWN: GeoipDatabase = { find: () => undefined };

export const NO_FACTS: Facts = { client: NOTHING_KNOWN.find, server: NOTHING_KNOWN.find, connection: {} };

/** Categories are hierarchical: `com.github.hooks` is also in `com.github` and in `com`. */
export function withPrefixes(categories: readonly string[]): string[] {
  const all = new Set<string>();
  for (const name of categories) {
    for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) all.add(name.slice(0, dot));
    all.add(name);
  }
  return [...all];
}
