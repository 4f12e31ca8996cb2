/** An application with the fetch API, such as Hono. */
export interface FetchApp {
  readonly fetch: (request: Request, ...rest: never[]) => Response | Promise<Response>;
}
