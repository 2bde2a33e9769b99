/** The rate is that of the last seconds: long enough to be steady, short enough to show that something stands still. */
const windowMilliSeconds = 10_000;
/** In less than that, two looks say nothing. */
const leastMilliSeconds = 200;

/** How much comes a second, over the last ten seconds. */
export class Rate {
  readonly #now: () => number;
  #noted: { readonly at: number; readonly amount: number }[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How much there is now. */
  note(amount: number): void {
    const at = this.#now();
    this.#noted.push({ at, amount });
    // The last one before the window stays: without it, slow work would have no rate.
    while ((this.#noted[1]?.at ?? at) <= at - windowMilliSeconds) this.#noted.shift();
  }

  /** Null as long as there is too little to tell. Falls while nothing is noted. */
  get perSecond(): number | null {
    const now = this.#now();
    const [first] = this.#noted;
    const last = this.#noted.at(-1);
    if (!first || !last || now - first.at < leastMilliSeconds) return null;
    return ((last.amount - first.amount) / (now - first.at)) * 1000;
  }
}
