/** Requests that were carried out and may be sent again. They are written by the stores, with what was asked for. */
export interface AcceptedRequests {
  /** Removes those whose time is over, `limit` at the most. Gives how many. */
  forgetOld(limit: number): Promise<number>;
}
