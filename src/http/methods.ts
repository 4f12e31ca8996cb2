/**
 * The accepted methods: those of RFC 9110 and similar registered ones. A proxy could pass on any token, but
 * unknown methods and other letter cases are refused, because a server behind it may read them differently.
 */
const METHODS = `ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL
MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND
UNLINK UNLOCK UNSUBSCRIBE`;

const known: ReadonlySet<string> = new Set(METHODS.split(/\s+/));

/** Length limit for searching the end of a method. */
export const LONGEST_METHOD = 32;

/** Whether a token is an accepted method. */
export function isMethod(token: string): boolean {
  return known.has(token);
}
