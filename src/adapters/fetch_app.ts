/** An application that answers with the fetch API: Hono, and whatever has its `fetch`. */
export interface FetchApp {
  readonly fetch: (request: Request, ...rest: never[]) => Response | Promise<Response>;
}
