/** Configuration of the edge that is counted, in the form of an edge file. */
export const EDGE: Record<string, unknown>;
/** The request that is counted. */
export const REQUEST: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
