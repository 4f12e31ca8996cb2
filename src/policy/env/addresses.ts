import type { Address } from '../../net/address.ts';
import { BOOL, INT, STRING, list, object, stringWithFields } from '../../cel/types.ts';
import type { GeoipDatabase, AddressFacts, PlaceFacts } from './facts.ts';

/** An address in an expression: its text, and facts about it, looked up on first use. */
export class IpValue {
  readonly text: string;
  /** Null if the text is not an address, as on an edge that listens on a name. */
  readonly address: Address | null;
  readonly #find: GeoipDatabase['find'];
  #facts: AddressFacts | undefined;
  #isAsked = false;

  constructor(text: string, address: Address | null, find: GeoipDatabase['find']) {
    this.text = text;
    this.address = address;
    this.#find = find;
  }

  get facts(): AddressFacts | undefined {
    if (!this.#isAsked) {
      this.#isAsked = true;
      this.#facts = this.address === null ? undefined : this.#find(this.address);
    }
    return this.#facts;
  }

  toJSON(): string {
    return this.text;
  }
}

const optional = true;

/** City to time zone; used for the location of an address and for its registration. */
const PLACE = object('Place', {
  city: { type: STRING, optional, doc: 'City.', read: (place: PlaceFacts) => place.city },
  continent: { type: STRING, optional, doc: 'Continent.', read: (place: PlaceFacts) => place.continent },
  country: { type: STRING, optional, doc: 'Country.', read: (place: PlaceFacts) => place.country },
  country_code: {
    type: STRING,
    optional,
    doc: 'ISO 3166-1 alpha-2 country code, such as `DE`.',
    read: (place: PlaceFacts) => place.country_code,
  },
  is_eu: {
    type: BOOL,
    optional,
    doc: 'Whether the country is in the European Union.',
    read: (place: PlaceFacts) => place.is_eu,
  },
  latitude: {
    type: STRING,
    optional,
    doc: 'Latitude in decimal degrees, as a string.',
    read: (place: PlaceFacts) => place.latitude,
  },
  longitude: {
    type: STRING,
    optional,
    doc: 'Longitude in decimal degrees, as a string.',
    read: (place: PlaceFacts) => place.longitude,
  },
  metro_code: {
    type: STRING,
    optional,
    doc: 'Metro code, in the United States.',
    read: (place: PlaceFacts) => place.metro_code,
  },
  postal_code: {
    type: STRING,
    optional,
    doc: 'Postal code.',
    read: (place: PlaceFacts) => place.postal_code,
  },
  radius: {
    type: STRING,
    optional,
    doc: 'Accuracy radius in kilometres, as a string.',
    read: (place: PlaceFacts) => place.radius,
  },
  subdivision: {
    type: STRING,
    optional,
    doc: 'State or province.',
    read: (place: PlaceFacts) => place.subdivision,
  },
  timezone: {
    type: STRING,
    optional,
    doc: 'Time zone, such as `Europe/Berlin`.',
    read: (place: PlaceFacts) => place.timezone,
  },
});

const GEO = object('Geo', {
  location: {
    type: PLACE,
    optional,
    doc: 'Location of the address.',
    read: (geo: NonNullable<AddressFacts['geo']>) => geo.location,
  },
  registered_location: {
    type: PLACE,
    optional,
    doc: 'Location where the network is registered.',
    read: (geo: NonNullable<AddressFacts['geo']>) => geo.registered_location,
  },
});

const AUTONOMOUS_SYSTEM = object('AutonomousSystem', {
  number: {
    type: INT,
    optional,
    doc: 'Number of the autonomous system.',
    read: (as: NonNullable<AddressFacts['as']>) => as.number,
  },
  organization: {
    type: STRING,
    optional,
    doc: 'Organization of the autonomous system.',
    read: (as: NonNullable<AddressFacts['as']>) => as.organization,
  },
});

export const IP = stringWithFields(
  'IpAddress',
  {
    categories: {
      type: list(STRING),
      optional,
      oftenAbsent: true,
      doc: 'Categories of the address; `com.github.hooks` is also in `com.github` and in `com`. From the facts.',
      read: (ip: IpValue) => ip.facts?.categories,
    },
    is_on_blocklist: {
      type: BOOL,
      optional,
      oftenAbsent: true,
      doc: 'Whether the address is on a list of abusers. From the facts.',
      read: (ip: IpValue) => ip.facts?.is_on_blocklist,
    },
    is_tor_node: {
      type: BOOL,
      optional,
      oftenAbsent: true,
      doc: 'Whether the address is an exit of the Tor network. From the facts.',
      read: (ip: IpValue) => ip.facts?.is_tor_node,
    },
    as: {
      type: AUTONOMOUS_SYSTEM,
      optional,
      oftenAbsent: true,
      doc: 'The network that announces the address. From the facts.',
      read: (ip: IpValue) => ip.facts?.as,
    },
    geo: {
      type: GEO,
      optional,
      oftenAbsent: true,
      doc: 'Places of the address. From the facts.',
      read: (ip: IpValue) => ip.facts?.geo,
    },
  },
  (ip: IpValue) => ip.text,
);
