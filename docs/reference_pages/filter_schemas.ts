import type { ModuleFacts } from '../../src/filters/facts.ts';
import type { EdgeKind } from '../../src/filters/phase.ts';
import { edgeFileJsonSchema } from '../../src/edge/document/schema.ts';
import { policyJsonSchema } from '../../src/policy/document/schema.ts';
import type { Schema } from './schema_values.ts';

export const EDGE_SCHEMA = edgeFileJsonSchema() as Schema;
export const POLICY_SCHEMA = policyJsonSchema() as Schema & {
  readonly definitions: Readonly<Record<string, Schema>>;
};

/** Where a module can be, with its schema there. */
export interface Place {
  readonly edgeKind: EdgeKind;
  readonly isRoute: boolean;
  readonly name: string;
  readonly schema: Schema;
}

const NAMES: Readonly<Record<EdgeKind, string>> = {
  https: 'HTTPS edges',
  tls: 'TLS edges',
  tcp: 'TCP edges',
};

/** The schema of the value of any name in `edges.https`, `edges.tls` or `edges.tcp`. */
function schemaOfEdge(edgeKind: EdgeKind): Schema {
  return EDGE_SCHEMA.properties!['edges']!.properties![edgeKind]!.additionalProperties as Schema;
}

/** The places of a module, in the order of its facts; those with the same schema are one. */
export function placesOf({ type, place, edgeKinds }: ModuleFacts<never>): readonly Place[] {
  const places: Place[] = [];
  for (const edgeKind of edgeKinds) {
    const isRoute = edgeKind === 'https' && place === 'route';
    const edge = schemaOfEdge(edgeKind);
    const schema = (isRoute ? edge.properties!['routes']!.items! : edge).properties![type]!;
    const name = isRoute ? `routes of ${NAMES.https}` : NAMES[edgeKind];
    const same = places.findIndex((each) => JSON.stringify(each.schema) === JSON.stringify(schema));
    if (same === -1) places.push({ edgeKind, isRoute, name, schema });
    else places[same] = { ...places[same]!, name: `${places[same]!.name}, ${name}` };
  }
  return places;
}

/** The schema of an action's `config`. */
export function actionSchema(type: string): Schema {
  return POLICY_SCHEMA.definitions[type]!.properties!['config']!;
}
