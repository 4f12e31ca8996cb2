/**
 * The methods that are taken, RFC 9110 and the registered ones of its kind. A method is a token like any other to a
 * proxy, but one that a server behind it may read in another way, or in another letter case, is refused here.
 */
const METHODS = `ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL
MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND
UNLINK UNLOCK UNSUBSCRIBE`;

const known: ReadonlySet<string> = new Set(METHODS.split(/\s+/));

/** Longer ones are looked for nowhere. */
export const LONGEST_METHOD = 32;

/** Whether a token is a method that is taken. */
export function isMethod(token: string): boolean {
  return known.has(token);
}
