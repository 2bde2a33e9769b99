// The service ends a session after a period of inactivity. Automatic refreshes do not count as activity, so the
// requests of a page are marked unless the user has done something recently.

const idleAfterMs = 60_000;

let lastInputAt = Date.now();
/** Number of running tasks that the user has started, such as an upload. They count as activity until they end. */
let tasks = 0;

/** Call this function once. */
export function watchInput(): void {
  for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'])
    addEventListener(type, noteInput, { passive: true, capture: true });
}

function noteInput(): void {
  lastInputAt = Date.now();
}

export function isIdle(): boolean {
  return tasks === 0 && Date.now() - lastInputAt > idleAfterMs;
}

/** Returns a function that ends the task. */
export function startTask(): () => void {
  tasks += 1;
  return () => {
    tasks -= 1;
    noteInput();
  };
}
