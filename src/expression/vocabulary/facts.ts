/**
 * What is known of an address beyond its bits: place, network, reputation. A local edge has no such
 * database, so facts come from a table in the configuration or the scenario, or from a database file.
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
 * Of the ranges that hold an address the most specific one counts, alone. `variables` gives values by the
 * name of the variable and goes before any range.
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
  /** Dotted names, every prefix of each included. */
  readonly categories?: readonly string[];
  readonly is_on_blocklist?: boolean;
  readonly is_tor_node?: boolean;
  readonly as?: { readonly number?: number; readonly organization?: string };
  readonly geo?: { readonly location?: PlaceFacts; readonly registered_location?: PlaceFacts };
}

/** Facts by address; a database reader is one, too. */
export interface AddressBook {
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

/** Facts of a connection that no address tells. */
interface ConnectionFacts {
  readonly server_region?: string;
  readonly ja4_fingerprint?: string;
  readonly pod?: PodFacts;
}

export interface Facts {
  readonly client: AddressBook['find'];
  readonly server: AddressBook['find'];
  readonly connection: ConnectionFacts;
}

export const NOTHING_KNOWN: AddressBook = { find: () => undefined };

/** A world in which nothing is known of anybody. */
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
