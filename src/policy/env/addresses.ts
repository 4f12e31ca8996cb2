import type { Address } from '../../net/address.ts';
import { BOOL, INT, STRING, fieldsOf, list, object, stringWithFields } from '../../cel/types.ts';
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

const placeField = fieldsOf<PlaceFacts>();

/** City to time zone; used for the location of an address and for its registration. */
const PLACE = object('Place', {
  city: placeField.optional(STRING, 'City.', (place) => place.city),
  continent: placeField.optional(STRING, 'Continent.', (place) => place.continent),
  country: placeField.optional(STRING, 'Country.', (place) => place.country),
  country_code: placeField.optional(
    STRING,
    'ISO 3166-1 alpha-2 country code, such as `DE`.',
    (place) => place.country_code,
  ),
  is_eu: placeField.optional(BOOL, 'Whether the country is in the European Union.', (place) => place.is_eu),
  latitude: placeField.optional(
    STRING,
    'Latitude in decimal degrees, as a string.',
    (place) => place.latitude,
  ),
  longitude: placeField.optional(
    STRING,
    'Longitude in decimal degrees, as a string.',
    (place) => place.longitude,
  ),
  metro_code: placeField.optional(STRING, 'Metro code, in the United States.', (place) => place.metro_code),
  postal_code: placeField.optional(STRING, 'Postal code.', (place) => place.postal_code),
  radius: placeField.optional(STRING, 'Accuracy radius in kilometres, as a string.', (place) => place.radius),
  subdivision: placeField.optional(STRING, 'State or province.', (place) => place.subdivision),
  timezone: placeField.optional(STRING, 'Time zone, such as `Europe/Berlin`.', (place) => place.timezone),
});

const geoField = fieldsOf<NonNullable<AddressFacts['geo']>>();

const GEO = object('Geo', {
  location: geoField.optional(PLACE, 'Location of the address.', (geo) => geo.location),
  registered_location: geoField.optional(
    PLACE,
    'Location where the network is registered.',
    (geo) => geo.registered_location,
  ),
});

const asField = fieldsOf<NonNullable<AddressFacts['as']>>();

const AUTONOMOUS_SYSTEM = object('AutonomousSystem', {
  number: asField.optional(INT, 'Number of the autonomous system.', (as) => as.number),
  organization: asField.optional(STRING, 'Organization of the autonomous system.', (as) => as.organization),
});

const ipField = fieldsOf<IpValue>();

export const IP = stringWithFields(
  'IpAddress',
  {
    categories: ipField.oftenAbsent(
      list(STRING),
      'Categories of the address; `com.github.hooks` is also in `com.github` and in `com`. From the facts.',
      (ip) => ip.facts?.categories,
    ),
    is_on_blocklist: ipField.oftenAbsent(
      BOOL,
      'Whether the address is on a list of abusers. From the facts.',
      (ip) => ip.facts?.is_on_blocklist,
    ),
    is_tor_node: ipField.oftenAbsent(
      BOOL,
      'Whether the address is an exit of the Tor network. From the facts.',
      (ip) => ip.facts?.is_tor_node,
    ),
    as: ipField.oftenAbsent(
      AUTONOMOUS_SYSTEM,
      'The network that announces the address. From the facts.',
      (ip) => ip.facts?.as,
    ),
    geo: ipField.oftenAbsent(GEO, 'Places of the address. From the facts.', (ip) => ip.facts?.geo),
  },
  (ip: IpValue) => ip.text,
);
