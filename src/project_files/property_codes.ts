/** Codes of property files, in addition to those of reading and shape, each with one sentence for its documentation. */
// table: codes and their sentences
export const PROPERTY_CODES = {
  'property.no_statement': { message: 'A property states what never happens, or uses a ready-made one.' },
  'property.no_name': { message: 'A property with a statement of its own has a name.' },
  'property.two_statements': { message: 'A ready-made property is a whole statement.' },
  'property.unknown_use': { message: 'There is no ready-made property of this name.' },
  'property.bad_parameter': {
    message: 'A ready-made property has the parameters that it needs, in their form.',
  },
  'property.unknown_gate': { message: 'A gate is a module, an action or `login`.' },
  'property.gate_without_name': {
    message: 'A gate by address or user agent is known by whom it lets through, not by its name.',
  },
} as const;

/** Without the prefix of the kind of file. */
export type PropertyCode = keyof typeof PROPERTY_CODES extends `property.${infer Code}` ? Code : never;
